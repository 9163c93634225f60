/**
 * Disk errors in a real process with signed orders in flight. Each run: the process ends within five
 * seconds with code 1 and the reason on standard error, and the next process has every acknowledged
 * order. The next process loads the library too, for its own run, and the library does nothing until
 * it is triggered; after every tenth run a process without it and `perpgate verify` check the folder.
 *
 * PERPGATE_FAULT_RUNS: the number of runs; `npm test -- --long faults` makes a hundred. Later rounds of the
 * table fail some calls later.
 */
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ProcessClient } from "../../testing/client.js";
import { compileFaultLibrary, type Fault, FaultControl } from "../../testing/faulty-disk.js";
import { expectAll, OrderFlow } from "../../testing/order-flow.js";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
  UNLIMITED,
} from "../../testing/perpgate-process.js";

const RUNS = Number(process.env.PERPGATE_FAULT_RUNS ?? 4);
const EXIT_MS = 5_000;
/** Runs on the same folder, one after the other; each process checks the orders of the one before. */
const GROUP = 10;
/** One takes some seconds on an idle machine. */
const RUN_MS = 60_000;
const CLIENTS = 2;
const IN_FLIGHT = 4;
/** Acknowledged before the fault. */
const ORDERS = 40;

/** Each ends the process: the log, or the history, cannot be written. */
const FATAL: readonly Fault[] = [
  { call: "sync", error: "EIO", path: ".log" },
  { call: "write", error: "ENOSPC", path: ".log" },
  { call: "sync", error: "EIO", path: "history/history.sqlite-wal" },
  { call: "write", error: "EIO", path: "history/history.sqlite-wal" },
  { call: "sync", error: "EIO", path: ".log", after: 3 },
  { call: "write", error: "EIO", path: ".log" },
  { call: "sync", error: "ENOSPC", path: "history/history.sqlite-wal", after: 1 },
  { call: "write", error: "ENOSPC", path: "history/history.sqlite-wal", after: 1 },
  { call: "sync", error: "ENOSPC", path: ".log", after: 11 },
  { call: "write", error: "EIO", path: ".log", after: 5 },
  { call: "write", error: "ENOSPC", path: ".log", after: 17 },
];

/** Each leaves the venue running, because recovery needs no snapshot; with the reason that is logged. */
const HARMLESS: readonly (readonly [Fault, string])[] = [
  [{ call: "write", error: "ENOSPC", path: ".snapshot" }, "ENOSPC.*, write"],
  [{ call: "sync", error: "EIO", path: ".snapshot" }, "EIO.*sync"],
  [{ call: "rename", error: "EIO", path: ".snapshot" }, "EIO.*, rename"],
  [{ call: "write", error: "EIO", path: "checkpoints.jsonl" }, "EIO.*, write"],
];

const library = compileFaultLibrary(afterAll);

/** All runs use one folder, so that segments are allocated once. */
const data = join(temporaryFolder(afterAll), "data");

function start(environment: NodeJS.ProcessEnv = {}): PerpgateProcess {
  const snapshots = { everyCommands: 100 };
  const config = configurationFile({ limits: UNLIMITED, snapshots, http: { drainGraceMs: 500 } });
  return new PerpgateProcess(["--port", "0", "--data", data, "--config", config], environment);
}

async function startFlow(perpgate: PerpgateProcess): Promise<OrderFlow> {
  const url = await perpgate.url();
  const clients = Array.from({ length: CLIENTS }, () => new ProcessClient(url));
  for (const client of clients) expect((await client.signIn()).status).toBe(200);
  return new OrderFlow(clients, IN_FLIGHT);
}

const titleOf = ({ call, error, path, after = 0 }: Fault) =>
  `${call} of ${path} fails with ${error} after ${after} more`;

describe.skipIf("missing" in library)("a disk that fails with orders in flight", () => {
  const path = "path" in library ? library.path : "";
  const runs = Array.from({ length: RUNS }, (_, run): Fault => {
    const fault = FATAL[run % FATAL.length] ?? { call: "sync", error: "EIO", path: ".log" };
    return { ...fault, after: (fault.after ?? 0) + 7 * Math.floor(run / FATAL.length) };
  });
  const groups = Array.from({ length: Math.ceil(RUNS / GROUP) }, (_, at) => ({
    first: at * GROUP + 1,
    faults: runs.slice(at * GROUP, (at + 1) * GROUP),
  }));

  /** Starts, checks the orders of the run before, sends its own, fails; returns its own flow. */
  async function runOnce(fault: Fault, before: OrderFlow | undefined): Promise<OrderFlow> {
    const disk = new FaultControl(path, temporaryFolder());
    const perpgate = start(disk.environment);
    if (before !== undefined) await expectAll(before, await perpgate.url());
    const flow = await startFlow(perpgate);
    await flow.reached(ORDERS);
    disk.trigger(fault);
    const { code, signal, stderr } = await perpgate.endedWithin(EXIT_MS);
    await flow.over();
    expect([code, signal], `${titleOf(fault)}: ${stderr}`).toEqual([1, null]);
    expect(stderr).toMatch(/^perpgate: the venue stopped: .*(error|space)/m);
    return flow;
  }

  /** Orders in flight when the process is killed: the next one has and keeps what was acknowledged. */
  async function expectAllAfterKill(perpgate: PerpgateProcess): Promise<void> {
    const flow = await startFlow(perpgate);
    await flow.reached(ORDERS);
    perpgate.killAll();
    await perpgate.ended;
    await flow.over();
    const restarted = start();
    await expectAll(flow, await restarted.url());
    restarted.killAll();
    await restarted.ended;
  }

  test.each(groups)(
    "runs from $first on: each exits, and nothing acknowledged is lost",
    { timeout: 60_000 + GROUP * RUN_MS },
    async ({ faults }) => {
      let flow: OrderFlow | undefined;
      for (const fault of faults) flow = await runOnce(fault, flow);
      const restarted = start();
      if (flow !== undefined) await expectAll(flow, await restarted.url());
      await expectAllAfterKill(restarted);
      const verified = await new PerpgateProcess(["verify", "--data", data]).ended;
      expect(verified, verified.stdout).toMatchObject({ code: 0 });
    },
  );

  test("snapshots and checkpoints that cannot be written: logged, and the venue continues", async () => {
    const disk = new FaultControl(path, temporaryFolder());
    const perpgate = start(disk.environment);
    const flow = await startFlow(perpgate);
    for (const [fault, reason] of HARMLESS) {
      disk.trigger(fault);
      await perpgate.printed(new RegExp(`${reason}.*no snapshot could be written`), "stderr");
      await flow.reached(flow.acknowledged.length + ORDERS);
    }
    disk.clear();
    perpgate.signal("SIGTERM");
    expect(await perpgate.ended).toMatchObject({ code: 0 });
    await flow.over();
  });
});
