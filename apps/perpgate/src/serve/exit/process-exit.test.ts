/** Every way in which a real process fails or stops: it is gone within five seconds. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { ProcessClient } from "../../testing/client.js";
import { compileFaultLibrary, type Fault, PreparedFault } from "../../testing/faulty-disk.js";
import { OrderFlow } from "../../testing/order-flow.js";
import {
  configurationFile,
  MAIN,
  PerpgateProcess,
  temporaryFolder,
} from "../../testing/perpgate-process.js";

const EXIT_MS = 5_000;
const PROVOKE = fileURLToPath(new URL("../../../dist/testing/provoke.js", import.meta.url));
/** Acknowledged before the failure: the history's thread is then within a transaction, or near one. */
const ORDERS = 300;

const library = compileFaultLibrary(afterAll);
if ("missing" in library && process.env.REQUIRE_CC === "1") throw new Error(library.missing);

function start(environment: NodeJS.ProcessEnv): PerpgateProcess {
  // A flow that is limited ends, and then nothing is in flight.
  const cost = { costMsPerSecond: 1e6, accountCostMsPerSecond: 1e6, accountCostBurstMs: 1e6 };
  const limits = { ordersPerSecond: 1e6, ordersBurst: 1e6, ...cost };
  const config = configurationFile({ limits, http: { drainGraceMs: 100 } });
  const args = ["--port", "0", "--data", join(temporaryFolder(), "data"), "--config", config];
  return new PerpgateProcess(args, environment, [process.execPath, "--import", PROVOKE, MAIN]);
}

async function startFlow(perpgate: PerpgateProcess): Promise<OrderFlow> {
  const client = new ProcessClient(await perpgate.url());
  expect((await client.signIn()).status).toBe(200);
  const flow = new OrderFlow([client], 1, 8);
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
    perpgate.signal("SIGUSR2");
    const { code, signal, stderr } = await perpgate.endedWithin(EXIT_MS);
    await flow.over();
    expect([code, signal], stderr).toEqual([1, null]);
    expect(stderr).toContain("Error: provoked by a test");
  });

  test("requests in the thread pool that never return: killed, after the reason", async () => {
    const pipe = join(temporaryFolder(), "pipe");
    execFileSync("mkfifo", [pipe]);
    const perpgate = start({ PROVOKE: "pool", PROVOKE_FILE: pipe });
    const flow = await startFlow(perpgate);
    perpgate.signal("SIGUSR2");
    const { code, signal, stderr } = await perpgate.endedWithin(EXIT_MS);
    await flow.over();
    expect([code, signal], stderr).toEqual([null, "SIGKILL"]);
    expect(stderr).toContain("Error: provoked by a test");
  });

  test("standard error that nobody reads: it ends all the same", async () => {
    const args = ["--import", PROVOKE, MAIN, "--port", "0", "--no-bots"];
    const child = spawn(process.execPath, [...args, "--data", join(temporaryFolder(), "data")], {
      env: { PATH: process.env.PATH, PROVOKE: "mute" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    child.kill("SIGUSR2");
    // By itself if writes to it fail, by the watchdog if they block.
    expect([
      [1, null],
      [null, "SIGKILL"],
    ]).toContainEqual(await once(child, "exit"));
  });
});

describe.skipIf("missing" in library)("a disk that fails at a bad moment", () => {
  function prepare(fault: Fault, environment: (file: string) => NodeJS.ProcessEnv = () => ({})) {
    const path = "path" in library ? library.path : "";
    const prepared = new PreparedFault(path, temporaryFolder(), fault);
    const all = { ...prepared.environment, ...environment(prepared.triggerFile) };
    return { prepared, perpgate: start(all) };
  }

  test("the history fails while the main thread is busy for ever: killed, with the reason", async () => {
    const { perpgate } = prepare(
      { call: "sync", error: "EIO", path: "history/data.mdb" },
      (file) => ({ PROVOKE: "busy", PROVOKE_FILE: file }),
    );
    const flow = await startFlow(perpgate);
    perpgate.signal("SIGUSR2");
    const { code, signal, stderr } = await perpgate.endedWithin(EXIT_MS);
    await flow.over();
    expect([code, signal], stderr).toEqual([null, "SIGKILL"]);
    expect(stderr).toMatch(/^perpgate: the history cannot be written: .*; killed/m);
  });

  test("the history fails while the process stops: code 1, not 0", async () => {
    const { perpgate, prepared } = prepare({
      call: "sync",
      error: "EIO",
      path: "history/data.mdb",
    });
    const flow = await startFlow(perpgate);
    prepared.trigger();
    perpgate.signal("SIGTERM");
    const { code, signal, stderr } = await perpgate.endedWithin(EXIT_MS);
    await flow.over();
    expect([code, signal], stderr).toEqual([1, null]);
    expect(stderr).toContain("perpgate: the venue stopped: the history cannot be written");
  });

  test("a sync of the log that never returns: the drain is given up", async () => {
    const { perpgate, prepared } = prepare({ call: "sync", error: "stall", path: ".log" });
    const flow = await startFlow(perpgate);
    prepared.trigger();
    perpgate.signal("SIGTERM");
    await perpgate.printed(/^perpgate: the drain did not end within 10100 ms/m, "stderr");
    const { code, signal, stderr } = await perpgate.endedWithin(EXIT_MS);
    await flow.over();
    expect([code, signal], stderr).toEqual([null, "SIGKILL"]);
  });
});
