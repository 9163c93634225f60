/** Output that cannot be written. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { freePort, until } from "@perpgate/journal/testing";
import { expect, test } from "vitest";
import {
  codeWithoutReader,
  MAIN,
  PerpgateProcess,
  temporaryFolder,
} from "./testing/perpgate-process.js";

const FULL = ["sh", "-c", 'exec "$0" "$@" >/dev/full', process.execPath, MAIN] as const;

test.each(["watch", "book"])("%s to a reader that is gone: ends with code 0", async (command) => {
  const venue = new PerpgateProcess(["--port", "0", "--data", join(temporaryFolder(), "data")]);
  const url = await venue.url();
  const subject = command === "watch" ? "ticker.BTCUSD" : "BTCUSD";
  expect(await codeWithoutReader([command, subject, "--url", url])).toBe(0);
});

test.skipIf(!existsSync("/dev/full"))(
  "a result that there is no room for: one line, code 1",
  async () => {
    expect(await new PerpgateProcess(["--help"], {}, FULL).ended).toMatchObject({
      code: 1,
      stderr: "perpgate: cannot write to standard output: ENOSPC: no space left on device, write\n",
    });
  },
);

test.skipIf(!existsSync("/dev/full"))(
  "serve whose banner there is no room for: runs, and stops with code 0",
  async () => {
    const port = await freePort();
    const args = ["--port", String(port), "--data", join(temporaryFolder(), "data")];
    const perpgate = new PerpgateProcess(args, {}, FULL);
    const isReady = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
      return answer?.status === 200;
    };
    await until(isReady, { everyMs: 200 });
    await perpgate.printed(/cannot write to standard output/, "stderr");
    perpgate.signal("SIGTERM");
    expect(await perpgate.ended).toMatchObject({ code: 0 });
  },
);
