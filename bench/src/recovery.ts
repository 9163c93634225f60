/**
 * How long a venue takes to come back, and what its snapshots cost the order path.
 *
 *   npm run bench:recovery [-- --json] [--commands N]
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  FileSnapshots,
  LOG_START,
  type LogPosition,
  LogReader,
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
import { driveOrders, percentile, type Sample } from "./recovery/order-path.js";
import { recordLog } from "./recovery/recorded-log.js";
import { progress, Report } from "./report.js";

const SEED = 20_261_115;
const ACCOUNTS = 10_000;
const LEVELS = 3_000;
const TAIL_BATCHES = 160;
const ORDERS_PER_SECOND = 1_000;
const WATCH_MS = 10_000;
/** A snapshot about every second at that rate. */
const SNAPSHOT_EVERY = 1_000;

const report = new Report("recovery", [
  "starting the process and loading its code",
  "signatures: a restart trusts its own log, an auditor uses verify --signatures",
]);

const wanted = process.argv.indexOf("--commands");
const COMMANDS = wanted < 0 ? 1_000_000 : Number(process.argv[wanted + 1]);

interface Timed {
  readonly state: ReplicaState;
  readonly ms: number;
  /** Processor time, which a busy machine does not stretch. */
  readonly processorMs: number;
  readonly end: LogPosition;
}

/** Applies the log from a place on; `isBare` leaves out the hashing of blocks. */
function replay(
  journal: string,
  from: LogPosition,
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
  const end = reader.position;
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

/** From a snapshot shortly before the end, and the tail behind it. */
async function fromSnapshot(journal: string, end: LogPosition): Promise<void> {
  progress("snapshot and tail …");
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
  const tail = replay(journal, snapshot.position, end.batch, state, false);
  const size =
    `${(bytes.length / 1e6).toFixed(1)} MB: ${addresses.length - 1} accounts, ` +
    `${sessions.byNumber.size} sessions, ${orders.open} open orders`;
  report.add(`snapshot of ${size}, loaded`, loaded, "ms");
  report.add(
    `  and a tail of ${end.record - snapshot.position.record} commands`,
    loaded + tail.ms,
    "ms",
    "bar 1,000 ms",
    1_000 / (loaded + tail.ms),
  );
}

async function fullRecovery(journal: string, end: LogPosition, commands: number): Promise<void> {
  progress("replay …");
  const bare = replay(journal, LOG_START, end.batch, newReplicaState(), true);
  report.add(
    `${commands} commands, engine alone`,
    bare.ms / 1_000,
    "s",
    "bar 8 s",
    8_000 / bare.ms,
  );
  report.add("  processor time", bare.processorMs / 1_000, "s");
  const whole = replay(journal, LOG_START, end.batch, newReplicaState(), false);
  report.add("  with blocks and their hashes", whole.ms / 1_000, "s", "bar 8 s", 8_000 / whole.ms);
  report.add("  processor time", whole.processorMs / 1_000, "s");
}

async function openings(directory: string): Promise<void> {
  progress("Venue.open, history rebuilt …");
  let venue = await Venue.open(options(directory, null));
  const { recovery } = venue;
  await venue.close();
  report.add("Venue.open with the history made anew", recovery.elapsedMs / 1_000, "s");
  progress("Venue.open, everything in place …");
  const started = performance.now();
  venue = await Venue.open(options(directory, null));
  report.add(
    "Venue.open from snapshot, tail and history",
    performance.now() - started,
    "ms",
    "bar 1,000 ms",
    1_000 / (performance.now() - started),
  );
  await venue.close();
}

/** The order path, first without snapshots, then with one about every second. */
async function pauses(directory: string): Promise<void> {
  progress("order path without snapshots …");
  let venue = await Venue.open(options(directory, null));
  await driveOrders(venue, ACCOUNTS, ORDERS_PER_SECOND, 2_000, SEED);
  const quiet = await driveOrders(venue, ACCOUNTS, ORDERS_PER_SECOND, WATCH_MS, SEED + 1);
  await venue.close();
  describe("order path, no snapshots", quiet);
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
  await driveOrders(venue, ACCOUNTS, ORDERS_PER_SECOND, 2_000, SEED + 2);
  const busy = await driveOrders(venue, ACCOUNTS, ORDERS_PER_SECOND, WATCH_MS, SEED + 3);
  await venue.close();
  const during = busy.filter(({ dueMs, latencyMs }) =>
    taken.some(({ from, to }) => dueMs + latencyMs >= from && dueMs <= to),
  );
  const lengths = taken.map(({ from, to }) => to - from);
  report.add(`snapshots taken meanwhile: ${taken.length}, each`, percentile(lengths, 0.5), "ms");
  describe(`order path during them (${during.length} orders)`, during);
}

function describe(what: string, samples: readonly Sample[]): void {
  const latencies = samples.map(({ latencyMs }) => latencyMs);
  report.add(`${what}, p50`, percentile(latencies, 0.5), "ms");
  report.add("  p99", percentile(latencies, 0.99), "ms");
  report.add("  p99.9", percentile(latencies, 0.999), "ms");
}

const directory = join(await mkdtemp(join(tmpdir(), "perpgate-recovery-")), "data");
try {
  progress(`recording ${COMMANDS} commands …`);
  const { end, commands } = await recordLog(directory, ACCOUNTS, LEVELS, COMMANDS, SEED);
  const { journal } = dataFolder(directory);
  await fullRecovery(journal, end, commands);
  await fromSnapshot(journal, end);
  await openings(directory);
  await pauses(directory);
  report.print(process.argv.includes("--json"));
} finally {
  await rm(join(directory, ".."), { recursive: true, force: true });
}
