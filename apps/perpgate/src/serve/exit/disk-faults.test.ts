/**
 * Disk errors in a real process with signed orders in flight. Each run: the process ends within five
 * seconds, by itself, with code 1 and the reason on standard error, and the next process has every
 * acknowledged order. The library is loaded into that one too, for its own run, and does nothing
 * until it is triggered; after every fifth run a process without it looks, and `perpgate verify`.
 *
 * PERPGATE_FAULT_RUNS: how many runs; `npm run test:faults` makes a hundred. The table is repeated, with the failure some calls later.
 */
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ProcessClient } from "../../testing/client.js";
import { compileFaultLibrary, type Fault, PreparedFault } from "../../testing/faulty-disk.js";
import { expectAll, OrderFlow } from "../../testing/order-flow.js";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
} from "../../testing/perpgate-process.js";

const RUNS = Number(process.env.PERPGATE_FAULT_RUNS ?? 10);
const EXIT_MS = 5_000;
/** Runs one after the other on the same folder; each process looks for what the one before has left. */
const GROUP = 5;
const CLIENTS = 2;
const IN_FLIGHT = 4;
/** Acknowledged before the fault. */
const ORDERS = 40;

/** Each ends the process: the log, or the history, cannot be written. */
const FATAL: readonly Fault[] = [
  { call: "sync", error: "EIO", path: ".log" },
  { call: "write", error: "ENOSPC", path: ".log" },
  { call: "sync", error: "EIO", path: "history/data.mdb" },
  { call: "write", error: "EIO", path: "history/probe" },
  { call: "sync", error: "EIO", path: ".log", after: 3 },
  { call: "write", error: "EIO", path: ".log" },
  { call: "sync", error: "ENOSPC", path: "history/data.mdb", after: 1 },
  { call: "write", error: "ENOSPC", path: "history/probe", after: 1 },
  { call: "sync", error: "ENOSPC", path: ".log", after: 11 },
  { call: "write", error: "EIO", path: ".log", after: 5 },
  { call: "truncate", error: "EIO", path: "history/probe" },
  { call: "write", error: "ENOSPC", path: ".log", after: 17 },
];

/** Each leaves the venue running: a snapshot is missing, and the log needs none. */
const HARMLESS: readonly Fault[] = [
  { call: "write", error: "ENOSPC", path: ".snapshot" },
  { call: "sync", error: "EIO", path: ".snapshot" },
  { call: "rename", error: "EIO", path: ".snapshot" },
  { call: "write", error: "ENOSPC", path: "checkpoints.jsonl" },
];

const library = compileFaultLibrary(afterAll);
if ("missing" in library) {
  if (process.env.REQUIRE_CC === "1") throw new Error(library.missing);
  console.log(`disk faults are not tested: ${library.missing}`);
}

/** The next runs go on with the folder, so that segments are allocated once. */
const data = join(temporaryFolder(afterAll), "data");
const limits = {
  ordersPerSecond: 1e6,
  ordersBurst: 1e6,
  readsPerSecond: 1e6,
  readsBurst: 1e6,
  costMsPerSecond: 1e6,
  costBurstMs: 1e6,
  accountCostMsPerSecond: 1e6,
  accountCostBurstMs: 1e6,
};

function start(environment: NodeJS.ProcessEnv = {}): PerpgateProcess {
  const snapshots = { everyCommands: 100 };
  const config = configurationFile({ limits, snapshots, http: { drainGraceMs: 500 } });
  return new PerpgateProcess(["--port", "0", "--data", data, "--config", config], environment);
}

async function startFlow(perpgate: PerpgateProcess): Promise<OrderFlow> {
  const url = await perpgate.url();
  const clients = Array.from({ length: CLIENTS }, () => new ProcessClient(url));
  for (const client of clients) expect((await client.signIn()).status).toBe(200);
  return new OrderFlow(clients, 1, IN_FLIGHT);
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

  /** Starts, looks for what the run before was acknowledged, loads, fails; returns its own flow. */
  async function runOnce(fault: Fault, before: OrderFlow | undefined): Promise<OrderFlow> {
    const prepared = new PreparedFault(path, temporaryFolder(), fault);
    const perpgate = start(prepared.environment);
    if (before !== undefined) await expectAll(before, await perpgate.url());
    const flow = await startFlow(perpgate);
    await flow.reached(ORDERS);
    prepared.trigger();
    const { code, signal, stderr } = await perpgate.endedWithin(EXIT_MS);
    await flow.over();
    expect([code, signal], `${titleOf(fault)}: ${stderr}`).toEqual([1, null]);
    expect(stderr).toMatch(/^perpgate: the venue stopped: .*(error|space)/m);
    return flow;
  }

  test.each(groups)(
    "runs from $first on: each exits, and nothing acknowledged is lost",
    async ({ faults }) => {
      let flow: OrderFlow | undefined;
      for (const fault of faults) flow = await runOnce(fault, flow);
      const restarted = start();
      if (flow !== undefined) await expectAll(flow, await restarted.url());
      restarted.signal("SIGKILL");
      await restarted.ended;
      const verified = await new PerpgateProcess(["verify", "--data", data]).ended;
      expect(verified, verified.stdout).toMatchObject({ code: 0 });
    },
  );

  test.each(HARMLESS.map((fault) => ({ title: titleOf(fault), fault })))(
    "$title: the venue goes on, and says so",
    async ({ fault }) => {
      const prepared = new PreparedFault(path, temporaryFolder(), fault);
      const perpgate = start(prepared.environment);
      const flow = await startFlow(perpgate);
      prepared.trigger();
      await perpgate.printed(/no snapshot could be written/, "stderr");
      await flow.reached(flow.acknowledged.length + ORDERS);
      perpgate.signal("SIGTERM");
      expect(await perpgate.ended).toMatchObject({ code: 0 });
      await flow.over();
    },
  );
});
