/** A data folder whose log key is missing, or another one. */

import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { until } from "@perpgate/journal/testing";
import { expect, test } from "vitest";
import { PerpgateProcess, temporaryFolder } from "../testing/perpgate-process.js";

test("a venue without its log key: refused; with a new one: refused until log-checkpoint is moved away", async () => {
  const data = join(temporaryFolder(), "data");
  const [key, checkpoint] = [join(data, "log.key"), join(data, "log-checkpoint")];
  const start = () =>
    new PerpgateProcess(["--port", "0", "--data", data, "--log-level", "error"], {});
  const stop = async (perpgate: PerpgateProcess) => {
    perpgate.signal("SIGTERM");
    expect(await perpgate.ended).toMatchObject({ code: 0 });
  };
  const first = start();
  await first.url();
  await until(() => existsSync(checkpoint));
  await stop(first);

  renameSync(key, `${key}.away`);
  const keyless = await start().ended;
  expect(keyless).toMatchObject({ code: 1 });
  expect(keyless.stderr).toMatch(
    /^perpgate: there is no log\.key in \S+, which has a log: .* perpgate keygen log .*\n$/,
  );
  const doctor = await new PerpgateProcess(["doctor", "--data", data, "--port", "0"]).ended;
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toMatch(/problem +settings +there is no log\.key/);
  expect(existsSync(key)).toBe(false);

  expect(await new PerpgateProcess(["keygen", "log", key]).ended).toMatchObject({ code: 0 });
  const other = await start().ended;
  expect(other).toMatchObject({ code: 1 });
  // The log may have a line about a thread that ended with the start.
  const lines = other.stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"));
  expect(lines).toEqual([
    expect.stringMatching(/^perpgate: the last checkpoint is not of this log key: .* move log-/),
  ]);

  renameSync(checkpoint, `${checkpoint}.away`);
  const anyway = start();
  await anyway.url();
  await stop(anyway);
});
