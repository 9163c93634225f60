/** A real process that fails or stops ends within five seconds, whatever the reason. */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { POLL, processesOf } from "@perpgate/journal/testing";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { ProcessClient } from "../../testing/client.js";
import { compileFaultLibrary, type Fault, FaultControl } from "../../testing/faulty-disk.js";
import { OrderFlow } from "../../testing/order-flow.js";
import {
  configurationFile,
  MAIN,
  PerpgateProcess,
  temporaryFolder,
  UNLIMITED,
} from "../../testing/perpgate-process.js";

const EXIT_MS = 5_000;
const PROVOKE = fileURLToPath(new URL("../../../dist/testing/provoke.js", import.meta.url));
/** Acknowledged before the failure, so that the history's thread is inside a transaction or near one. */
const ORDERS = 300;

const library = compileFaultLibrary(afterAll);

function start(environment: NodeJS.ProcessEnv): PerpgateProcess {
  // A flow ends at the first rate limit, and then no order is in flight.
  const config = configurationFile({ limits: UNLIMITED, http: { drainGraceMs: 100 } });
  const args = ["--port", "0", "--data", join(temporaryFolder(), "data"), "--config", config];
  return new PerpgateProcess(args, environment, [process.execPath, "--import", PROVOKE, MAIN]);
}

async function startFlow(perpgate: PerpgateProcess): Promise<OrderFlow> {
  const client = new ProcessClient(await perpgate.url());
  expect((await client.signIn()).status).toBe(200);
  const flow = new OrderFlow([client], 8);
  await flow.reached(ORDERS);
  return flow;
}

describe("a process that fails with orders in flight", () => {
  test.each([
    ["an exception that nobody catches", "throw"],
    ["a rejection that nobody handles", "reject"],
  ])("%s: code 1, and the reason", async (_, action) => {
    const perpgate = start({ PROVOKE: action });
    const flow = await startFlow(perpgate);
    perpgate.signalCore("SIGUSR2");
    const { code, signal, stderr } = await perpgate.endedWithin(EXIT_MS);
    await flow.over();
    expect([code, signal], stderr).toEqual([1, null]);
    expect(stderr).toContain("Error: provoked by a test");
  });

  test("a heap that fills: ends before V8 gives up, with the flag to raise", async () => {
    const perpgate = start({ PROVOKE: "heap", NODE_OPTIONS: "--max-old-space-size=200" });
    await perpgate.url();
    perpgate.signalCore("SIGUSR2");
    const { code, stderr } = await perpgate.ended;
    expect(code, stderr).not.toBe(0);
    // The heap goes on filling while the process ends: what comes after the line does not matter.
    expect(stderr.split("FATAL ERROR")[0]).toMatch(
      /^perpgate: out of memory: \d+ of at most 200 MiB of heap are in use after a collection; start node with a larger --max-old-space-size$/m,
    );
  });

  test("requests in the thread pool that never return: killed, after the reason", async () => {
    const pipe = join(temporaryFolder(), "pipe");
    execFileSync("mkfifo", [pipe]);
    const perpgate = start({ PROVOKE: "pool", PROVOKE_FILE: pipe });
    const flow = await startFlow(perpgate);
    perpgate.signalCore("SIGUSR2");
    const { code, signal, stderr } = await perpgate.endedWithin(EXIT_MS);
    await flow.over();
    expect([code, signal], stderr).toEqual([null, "SIGKILL"]);
    expect(stderr).toContain("Error: provoked by a test");
  });

  test("standard error that nobody reads: ends nevertheless", async () => {
    const args = ["--import", PROVOKE, MAIN, "--port", "0", "--no-bots", "--edges", "1"];
    const muted = join(temporaryFolder(), "muted");
    const child = spawn(process.execPath, [...args, "--data", join(temporaryFolder(), "data")], {
      env: { PATH: process.env.PATH, PROVOKE: "mute", PROVOKE_FILE: muted },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = once(child, "exit");
    await once(child.stdout, "data");
    for (const core of processesOf("core-process.js", child.pid ?? 0))
      process.kill(core, "SIGUSR2");
    await expect.poll(() => existsSync(muted), POLL).toBe(true);
    // Code 1 if writes to it fail, killed by the watchdog if they block.
    expect([
      [1, null],
      [null, "SIGKILL"],
    ]).toContainEqual(await Promise.race([ended, delay(EXIT_MS, "still runs")]));
  });
});

describe.skipIf("missing" in library)("a disk that fails during a loop or a stop", () => {
  const HISTORY_FAULT: Fault = { call: "sync", error: "EIO", path: "history/history.sqlite-wal" };
  const faultyDisk = () =>
    new FaultControl("path" in library ? library.path : "", temporaryFolder());

  test("the history fails while the main thread is in an endless loop: killed, with the reason", async () => {
    const disk = faultyDisk();
    const perpgate = start({
      ...disk.environment,
      PROVOKE: "busy",
      PROVOKE_FILE: disk.triggerFile,
      PROVOKE_TEXT: disk.lineOf(HISTORY_FAULT),
    });
    const flow = await startFlow(perpgate);
    // The history is in the middle of a write when the loop begins, which also makes that write fail.
    disk.trigger({ ...HISTORY_FAULT, error: "stall" });
    await expect.poll(() => disk.hasStalled, POLL).toBe(true);
    perpgate.signalCore("SIGUSR2");
    const { code, signal, stderr } = await perpgate.endedWithin(EXIT_MS);
    await flow.over();
    expect([code, signal], stderr).toEqual([null, "SIGKILL"]);
    expect(stderr).toMatch(/^perpgate: the history cannot be written: .*; killed/m);
  });

  test("the history fails while the process stops: code 1, not 0", async () => {
    const disk = faultyDisk();
    const perpgate = start(disk.environment);
    const flow = await startFlow(perpgate);
    disk.trigger(HISTORY_FAULT);
    perpgate.signal("SIGTERM");
    const { code, signal, stderr } = await perpgate.endedWithin(EXIT_MS);
    await flow.over();
    expect([code, signal], stderr).toEqual([1, null]);
    expect(stderr).toContain("perpgate: the venue stopped: the history cannot be written");
  });

  test("a sync of the log that never returns: the drain is abandoned", async () => {
    const disk = faultyDisk();
    const perpgate = start(disk.environment);
    const flow = await startFlow(perpgate);
    disk.trigger({ call: "sync", error: "stall", path: ".log" });
    await expect.poll(() => disk.hasStalled, POLL).toBe(true);
    perpgate.signal("SIGTERM");
    await perpgate.printed(/^perpgate: the drain did not end within 10100 ms/m, "stderr");
    const { code, signal, stderr } = await perpgate.endedWithin(EXIT_MS);
    await flow.over();
    expect([code, signal], stderr).toEqual([null, "SIGKILL"]);
  });
});
