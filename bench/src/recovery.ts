/**
 * How long a venue takes to restart. Starting the process and loading its code is left out, and so are
 * signatures: a restart trusts its own log, an auditor uses `verify --signatures`.
 */
import { join } from "node:path";
import {
  FileSnapshots,
  LOG_START,
  type LogSeq,
  nodeDisk,
  openJournal,
  SegmentReader,
} from "@perpgate/journal";
import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { Replica, Venue } from "@perpgate/venue";
import {
  dataFolder,
  decodeReplicaState,
  encodeReplicaState,
  newReplicaState,
  observe,
  type ReplicaState,
} from "@perpgate/venue/testing";
import { CONFIG, StreamedFlow } from "./engine/venue-flow.js";
import { inFolder } from "./harness/gateway.js";
import { parseOptions } from "./harness/options.js";
import { Report } from "./harness/report.js";
import { recordLog } from "./recovery/recorded-log.js";

const TAIL_BATCHES = 160;
/** A million commands in eight seconds. */
const REPLAY_BAR = 125_000;

const options = parseOptions({
  command: "npm run bench -- recovery",
  about: "Replay of a log, snapshot and tail, and the opening of a venue.",
  numbers: {
    commands: ["commands in the log", 1_000_000, 100_000],
    accounts: ["accounts that trade", 10_000, 2_000],
  },
});
const report = new Report("recovery");

/** Applies the log from a position on; `isBare` leaves out blocks, their hashes and what rows build on. */
function replay(
  journal: string,
  from: LogSeq,
  until: number,
  state: ReplicaState,
  isBare = false,
): { readonly ms: number; readonly end: LogSeq } {
  const started = performance.now();
  const onCommand = (applied: Parameters<typeof observe>[1]): void => {
    const sealed = observe(state, applied);
    state.rows.onCommand(applied, state.blocks.currentNumber, sealed);
  };
  const replica = new Replica(state.engine, isBare ? [] : [{ onCommand }]);
  const reader = new SegmentReader(nodeDisk, journal, from);
  for (let batch = reader.next(until); batch !== undefined; batch = reader.next(until)) {
    replica.applyBatch(batch);
  }
  const end = reader.seq;
  reader.close();
  return { ms: performance.now() - started, end };
}

function fullReplay(journal: string, end: LogSeq, commands: number): void {
  const addRow = (metric: string, isBare: boolean): void => {
    const { ms } = replay(journal, LOG_START, end.batch, newReplicaState(), isBare);
    const rate = commands / (ms / 1_000);
    report.add(metric, rate, "commands/s", "bar 125,000", rate / REPLAY_BAR);
  };
  addRow(`replay of ${commands.toLocaleString("en-US")} commands, engine alone`, true);
  addRow("  with blocks, their hashes and what rows build on", false);
}

/** From a snapshot shortly before the end, and the tail after it. */
async function fromSnapshot(journal: string, end: LogSeq): Promise<void> {
  const before = newReplicaState();
  const { end: at } = replay(journal, LOG_START, end.batch - TAIL_BATCHES, before);
  const bytes = before.engine.snapshot();
  const opened = await openJournal({ directory: journal, verify: "tail" });
  const files = new FileSnapshots(nodeDisk, journal, opened.recovery.logId);
  await opened.close();
  files.write(at, encodeReplicaState(before, bytes));
  const started = performance.now();
  const { snapshot } = files.newest();
  if (snapshot === undefined) throw new Error("the snapshot is not there");
  const state = decodeReplicaState(snapshot.body);
  const loaded = performance.now() - started;
  const totalMs = loaded + replay(journal, snapshot.seq, end.batch, state).ms;
  const { orders, sessions, addresses } = before.engine.state;
  const size =
    `${(bytes.length / 1e6).toFixed(1)} MB: ${addresses.length - 1} accounts, ` +
    `${sessions.size} sessions, ${orders.open} open orders`;
  report.add(`snapshot of ${size}, loaded`, loaded, "ms");
  const metric = `  and a tail of ${end.record - snapshot.seq.record} commands`;
  report.add(metric, totalMs, "ms", "bar 1,000 ms", totalMs / 1_000);
}

/** The first time the history is missing and made on the main thread; the second time everything is in place. */
async function openings(directory: string): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < 2; i++) {
    const started = performance.now();
    const basis = { directory, config: CONFIG, listing: DEFAULT_MARKETS };
    const waitedRecords = Number.MAX_SAFE_INTEGER;
    const venue = await Venue.open({ ...basis, cohort: "open", checkpoints: null, waitedRecords });
    times.push(performance.now() - started);
    await venue.close();
  }
  const [rebuilt, opened] = times;
  report.add("Venue.open, history rebuilt", rebuilt! / 1_000, "s");
  const name = "Venue.open from snapshot, tail and history";
  report.add(name, opened!, "ms", "bar 1,000 ms", opened! / 1_000);
}

await inFolder("recovery", async (folder) => {
  const directory = join(folder, "data");
  const { journal } = dataFolder(directory);
  const isRecorded = await report.step("recording and replaying", async () => {
    const [accounts, count] = [options.number("accounts"), options.number("commands")];
    const flow = new StreamedFlow(accounts, count);
    const { end, commands } = await recordLog(journal, flow);
    fullReplay(journal, end, commands);
    await fromSnapshot(journal, end);
  });
  if (isRecorded) await report.step("opening", () => openings(directory));
});
report.print(options.has("json"));
