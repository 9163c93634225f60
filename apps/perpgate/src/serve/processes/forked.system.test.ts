import { once } from "node:events";
import { join } from "node:path";

import { expect, test } from "vitest";
import { temporaryFolder } from "../../testing/perpgate-process.js";
import { readConfiguration } from "../configuration.js";
import { serve } from "../serve.js";
import { forkVenue } from "./forked.js";

test("a start that is refused ends the processes that were forked for it, before it ends itself", async () => {
  const data = join(temporaryFolder(), "data");
  const settings = readConfiguration({ data, port: 0, host: "0.0.0.0" }, {});
  const forked = forkVenue(1);
  const children = [forked.core, ...forked.edges];
  const endings = children.map((child) => once(child, "exit"));
  const accepted = { loss: false, clock: false };
  await expect(serve(forked, settings, "0.3.0", accepted)).rejects.toThrow("auth.domains");
  expect(children.map(({ killed }) => killed)).toEqual([true, true]);
  expect(await Promise.all(endings)).toEqual(children.map(() => [null, "SIGKILL"]));
});
