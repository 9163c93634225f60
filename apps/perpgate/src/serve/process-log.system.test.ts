import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, until } from "@perpgate/journal/testing";
import { expect, onTestFinished, test } from "vitest";
import { MetricsReading } from "../testing/metrics-text.js";
import { MAIN, PerpgateProcess, temporaryFolder } from "../testing/perpgate-process.js";
import { openProcessLog } from "./process-log.js";

test.skipIf(!existsSync("/dev/full"))(
  "standard error without room: the venue starts, is ready, and counts the failed writes",
  async () => {
    const fullError = ["sh", "-c", 'exec "$0" "$@" 2>/dev/full', process.execPath, MAIN] as const;
    const args = ["--port", "0", "--data", join(temporaryFolder(), "data")];
    const perpgate = new PerpgateProcess(args, {}, fullError);
    const url = await perpgate.url();
    expect((await fetch(`${url}/v1/nothing`)).status).toBe(404);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const reading = new MetricsReading(await (await fetch(`${url}/metrics`)).text());
    expect(reading.value("perpgate_stderr_failures_total")).toBeGreaterThan(0);
    perpgate.signal("SIGTERM");
    expect(await perpgate.ended).toMatchObject({ code: 0 });
  },
);

test.skipIf(!existsSync("/dev/full"))(
  "standard output and error without room: the venue starts and is ready",
  async () => {
    const bothFull = [
      "sh",
      "-c",
      'exec "$0" "$@" >/dev/full 2>&1',
      process.execPath,
      MAIN,
    ] as const;
    const port = await freePort();
    const args = ["--port", String(port), "--data", join(temporaryFolder(), "data")];
    const perpgate = new PerpgateProcess(args, {}, bothFull);
    const isReady = () => fetch(`http://127.0.0.1:${port}/readyz`).then(({ ok }) => ok);
    await until(() => isReady().catch(() => false), { everyMs: 100 });
    perpgate.signal("SIGTERM");
    expect(await perpgate.ended).toMatchObject({ code: 0 });
  },
);

test("a file that cannot be written, then can: a MiB of lines is kept and written, more are counted", () => {
  const path = join(temporaryFolder(), "stderr");
  writeFileSync(path, "");
  const fd = openSync(path, "r");
  const { log, counts } = openProcessLog("info", "test", fd);
  const padding = "x".repeat(10_000);
  const writeLine = (line: number) => log.info({ line, padding }, "a line");
  for (let line = 1; line <= 200; line++) writeLine(line);
  const { failures, lost } = counts;
  expect(failures).toBe(200);
  expect((200 - lost) * padding.length).toBeLessThan(1024 * 1024);
  expect((200 - lost + 2) * padding.length).toBeGreaterThan(1024 * 1024);

  reopen(fd, path);
  // Finds no place among those that wait, but lets them be written.
  writeLine(201);
  writeLine(202);
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const kept = Array.from({ length: 200 - lost }, (_, at) => at + 1);
  expect(lines.map((line) => JSON.parse(line).line)).toEqual([...kept, 202]);
  expect(counts).toEqual({ failures, lost: lost + 1 });
});

/** Makes the descriptor writable: the number of a closed one is given to the next. */
function reopen(fd: number, path: string): void {
  closeSync(fd);
  const opened = openSync(path, "a");
  onTestFinished(() => closeSync(opened));
  expect(opened).toBe(fd);
}
