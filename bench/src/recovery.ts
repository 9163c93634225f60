/**
 * How long a venue takes to restart, and what its snapshots cost the order path.
 *
 *   npm run bench:recovery [-- --help]
 */
import { join } from "node:path";
import {
  FileSnapshots,
  LOG_START,
  LogReader,
  type LogSeq,
  nodeDisk,
  openJournal,
} from "@perpgate/journal";
import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { Replica, Venue, type VenueOptions } from "@perpgate/venue";
import {
  dataFolder,
  decodeReplicaState,
  encodeReplicaState,
  newReplicaState,
  observe,
  type ReplicaState,
} from "@perpgate/venue/testing";
import { CONFIG } from "./engine/venue-flow.js";
import { inFolder } from "./harness/gateway.js";
import { parseOptions } from "./harness/options.js";
import { Latencies, median, progress, Report } from "./harness/report.js";
import { driveOrders, recordLog, type Sample } from "./recovery/venue-load.js";

const SEED = 20_261_115;
const LEVELS = 3_000;
const TAIL_BATCHES = 160;
const ORDERS_PER_SECOND = 1_000;
/** A snapshot about every second at that rate. */
const SNAPSHOT_EVERY = 1_000;

const report = new Report("recovery", [
  "starting the process and loading its code",
  "signatures: a restart trusts its own log, an auditor uses verify --signatures",
]);

const settings = parseOptions({
  command: "bench:recovery",
  about: "Replay, snapshot and tail, and the order path while snapshots are taken.",
  numbers: {
    commands: ["commands in the log", 1_000_000, 100_000],
    accounts: ["accounts that trade", 10_000, 2_000],
    milliseconds: ["time the order path is watched", 10_000, 3_000],
  },
});
const COMMANDS = settings.number("commands");
const ACCOUNTS = settings.number("accounts");
const WATCH_MS = settings.number("milliseconds");
/** A million commands in eight seconds. */
const REPLAY_BAR = 125_000;

interface Timed {
  readonly state: ReplicaState;
  readonly ms: number;
  /** Processor time, which other processes do not lengthen. */
  readonly processorMs: number;
  readonly end: LogSeq;
}

/** Applies the log from a position on; `isBare` leaves out blocks and their hashes. */
function replay(
  journal: string,
  from: LogSeq,
  until: number,
  state: ReplicaState,
  isBare: boolean,
): Timed {
  const started = performance.now();
  const spent = process.cpuUsage();
  const observers = isBare
    ? []
    : [{ onCommand: (applied: Parameters<typeof observe>[1]) => void observe(state, applied) }];
  const replica = new Replica(state.engine, observers);
  const reader = new LogReader(nodeDisk, journal, from);
  for (let batch = reader.next(until); batch !== undefined; batch = reader.next(until)) {
    replica.applyBatch(batch);
  }
  const end = reader.seq;
  reader.close();
  const { user, system } = process.cpuUsage(spent);
  return { state, ms: performance.now() - started, processorMs: (user + system) / 1_000, end };
}

function options(directory: string, checkpoints: VenueOptions["checkpoints"]): VenueOptions {
  return {
    directory,
    config: CONFIG,
    listing: DEFAULT_MARKETS,
    cohort: "open",
    checkpoints: checkpoints ?? null,
  };
}

async function logId(journal: string): Promise<Uint8Array> {
  const opened = await openJournal({ directory: journal, verify: "tail" });
  const { logId: id } = opened.recovery;
  await opened.close();
  return id;
}

/** From a snapshot shortly before the end, and the tail after it. */
async function fromSnapshot(journal: string, end: LogSeq): Promise<void> {
  const before = replay(journal, LOG_START, end.batch - TAIL_BATCHES, newReplicaState(), false);
  const bytes = before.state.engine.snapshot();
  const files = new FileSnapshots(nodeDisk, journal, await logId(journal));
  files.write(before.end, encodeReplicaState(before.state, bytes));
  const { orders, sessions, addresses } = before.state.engine.state;
  const started = performance.now();
  const { snapshot } = files.newest();
  if (snapshot === undefined) throw new Error("the snapshot is not there");
  const state = decodeReplicaState(snapshot.body);
  const loaded = performance.now() - started;
  const tail = replay(journal, snapshot.seq, end.batch, state, false);
  const size =
    `${(bytes.length / 1e6).toFixed(1)} MB: ${addresses.length - 1} accounts, ` +
    `${sessions.size} sessions, ${orders.open} open orders`;
  report.add(`snapshot of ${size}, loaded`, loaded, "ms");
  const metric = `  and a tail of ${end.record - snapshot.seq.record} commands`;
  const totalMs = loaded + tail.ms;
  report.add(metric, totalMs, "ms", "bar 1,000 ms", totalMs / 1_000);
}

function fullRecovery(journal: string, end: LogSeq, commands: number): void {
  const count = commands.toLocaleString("en-US");
  for (const [name, isBare] of [
    [`replay of ${count} commands, engine alone`, true],
    ["  with blocks and their hashes", false],
  ] as const) {
    const { ms, processorMs } = replay(journal, LOG_START, end.batch, newReplicaState(), isBare);
    const rate = commands / (ms / 1_000);
    report.add(name, rate, "commands/s", "bar 125,000", rate / REPLAY_BAR);
    report.detail("  processor time", processorMs / 1_000, "s");
  }
}

async function openings(directory: string): Promise<void> {
  progress("Venue.open, history rebuilt …");
  let venue = await Venue.open(options(directory, null));
  const { recovery } = venue;
  await venue.close();
  report.detail("Venue.open, history rebuilt", recovery.elapsedMs / 1_000, "s");
  progress("Venue.open, everything in place …");
  const started = performance.now();
  venue = await Venue.open(options(directory, null));
  const opened = performance.now() - started;
  const name = "Venue.open from snapshot, tail and history";
  report.add(name, opened, "ms", "bar 1,000 ms", opened / 1_000);
  await venue.close();
}

/** The order path, first without snapshots, then with one about every second. */
async function pauses(directory: string): Promise<void> {
  progress("order path without snapshots …");
  let venue = await Venue.open(options(directory, null));
  await driveOrders(venue, ACCOUNTS, ORDERS_PER_SECOND, WATCH_MS / 5, SEED);
  const quiet = await driveOrders(venue, ACCOUNTS, ORDERS_PER_SECOND, WATCH_MS, SEED + 1);
  await venue.close();
  progress("order path while snapshots are taken …");
  const taken: { from: number; to: number }[] = [];
  venue = await Venue.open({
    ...options(directory, { everyCommands: SNAPSHOT_EVERY, everyMs: 3_600_000, keep: 2 }),
    logger: {
      info: (fields) => {
        if (!("elapsedMs" in fields) || !("bytes" in fields)) return;
        const to = performance.now();
        taken.push({ from: to - Number(fields.elapsedMs), to });
      },
      warn: () => undefined,
      error: (fields) => progress(JSON.stringify(fields)),
    },
  });
  await driveOrders(venue, ACCOUNTS, ORDERS_PER_SECOND, WATCH_MS / 5, SEED + 2);
  const busy = await driveOrders(venue, ACCOUNTS, ORDERS_PER_SECOND, WATCH_MS, SEED + 3);
  await venue.close();
  const during = busy.filter(({ dueMs, latencyMs }) =>
    taken.some(({ from, to }) => dueMs + latencyMs >= from && dueMs <= to),
  );
  const lengths = taken.map(({ from, to }) => to - from);
  report.detail(`snapshots taken meanwhile: ${taken.length}, each`, median(lengths), "ms");
  const name = `order path at ${ORDERS_PER_SECOND}/s during ${taken.length} snapshots`;
  const [calm, busyAt] = [latencyOf(quiet), latencyOf(during)];
  for (const at of ["p50", "p99", "p999"] as const) {
    const against = `without ${calm[at].toFixed(2)} ms`;
    report.add(`${name}, ${at}`, busyAt[at], "ms", against, busyAt[at] / calm[at]);
  }
}

function latencyOf(samples: readonly Sample[]) {
  return Latencies.of(samples.map(({ latencyMs }) => latencyMs));
}

await inFolder("recovery", async (folder) => {
  const directory = join(folder, "data");
  const { journal } = dataFolder(directory);
  const isRecorded = await report.step(`recording ${COMMANDS} commands and replaying`, async () => {
    const { end, commands } = await recordLog(directory, ACCOUNTS, LEVELS, COMMANDS, SEED);
    fullRecovery(journal, end, commands);
    await fromSnapshot(journal, end);
  });
  if (!isRecorded) return;
  await report.step("opening", () => openings(directory));
  await report.step("order path", () => pauses(directory));
});
report.print(settings.has("json"));
