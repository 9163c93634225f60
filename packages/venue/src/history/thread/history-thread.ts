/**
 * The thread that writes the history. Slices come in by message and in order; what comes in until the
 * next transaction is due shares it, so a slow disk makes transactions larger, not a queue longer.
 * Each also holds the position it reaches: the store is never half a command ahead or behind. Its
 * entries are put a few at a time over most of the time between two transactions.
 *
 * A failure is told once, and nothing is written after it: a later slice without an earlier one
 * would be a gap that nobody looks for.
 */
import { parentPort, workerData } from "node:worker_threads";
import { ExitDeadline } from "@perpgate/journal";
import { lowerPriority } from "@perpgate/journal/worker";
import { openEnvironment, openTables, TABLES, writeHeld } from "../history-environment.js";
import { eachEntry, USUAL_BYTES } from "../slice.js";
import { DiskProbe } from "./disk-probe.js";
import { EvenPace } from "./even-pace.js";
import {
  type FromWriter,
  SIGNAL,
  type ThreadData,
  type ToWriter,
  type WriteSlice,
} from "./messages.js";

/** Enough to be let in on time, with a seventh of a core where others want all of them. */
const NICENESS = 5;
/**
 * Between two transactions, unless somebody waits: each syncs pages all over the file, and the log's
 * own syncs, which orders wait for, queue behind it.
 */
const MIN_INTERVAL_MS = 250;
/** Of that, the time over which a transaction's entries are spread. */
const SPREAD_MS = 200;
/**
 * More are put in one go: at some four thousand orders a second two cores are near their limit, and
 * threads that take turns cool each other's caches (about 5 % more processor time an order).
 */
const MOST_SPREAD_ENTRIES = 10_000;
/** Put without a pause, in some tenths of a millisecond. */
const ENTRIES_PER_STEP = 64;
/** At most, so that a transaction ends some time also when the log is replayed. */
const SLICES_PER_TRANSACTION = 64;

/** Rolls a transaction back because the process ends. */
class Abandoned extends Error {
  override readonly name = "Abandoned";
}

function run(
  { directory, logId, signals, exitDeadline }: ThreadData,
  port: NonNullable<typeof parentPort>,
  tell: (message: FromWriter) => void,
): void {
  const environment = openEnvironment(directory, false);
  const stored = openTables(environment, false);
  const tables = TABLES.map((name) => stored[name]);
  const probe = new DiskProbe(directory);
  const pace = new EvenPace(signals);
  const signal = new Int32Array(signals);
  const isAbandoned = () => Atomics.load(signal, SIGNAL.ABANDONED) !== 0;
  let waiting: WriteSlice[] = [];
  let timer: NodeJS.Timeout | undefined;
  let begunAt = Number.NEGATIVE_INFINITY;
  let hasFailed = false;
  let copy = Buffer.allocUnsafeSlow(USUAL_BYTES);

  /** lmdb takes no memory that is shared. Good until the next one: an entry that was put is copied. */
  const copyOf = (shared: Uint8Array): Buffer => {
    if (shared.length > copy.length) copy = Buffer.allocUnsafeSlow(shared.length);
    copy.set(shared);
    return copy.subarray(0, shared.length);
  };

  const putAll = (slices: readonly WriteSlice[]): void => {
    const entries = slices.reduce((sum, { count }) => sum + count, 0);
    pace.begin(entries / ENTRIES_PER_STEP, entries <= MOST_SPREAD_ENTRIES ? SPREAD_MS : 0);
    let put = 0;
    for (const { memory, length } of slices) {
      eachEntry(copyOf(new Uint8Array(memory, 0, length)), (table, key, value) => {
        tables[table]!.putSync(key, value);
        if (++put % ENTRIES_PER_STEP !== 0) return;
        pace.next();
        if (isAbandoned()) throw new Abandoned();
      });
    }
  };

  const write = (slices: readonly WriteSlice[]): void => {
    const last = slices.at(-1);
    if (last === undefined || hasFailed || isAbandoned()) return;
    try {
      environment.transactionSync(() => {
        putAll(slices);
        writeHeld(environment, logId, last.held);
        if (isAbandoned()) throw new Abandoned();
        // Right before the pages are written.
        probe.check(slices.reduce((sum, { length }) => sum + length, 0));
      });
      tell({ kind: "written", number: last.number });
    } catch (error) {
      hasFailed = true;
      if (error instanceof Abandoned) return;
      const message = error instanceof Error ? error.message : String(error);
      // Before the message: the main thread may be too busy to read it.
      if (exitDeadline !== undefined) {
        new ExitDeadline(exitDeadline).fail(`the history cannot be written: ${message}`);
      }
      tell({ kind: "failed", message });
    }
  };

  const writeWaiting = (): void => {
    clearTimeout(timer);
    timer = undefined;
    begunAt = performance.now();
    write(waiting);
    waiting = [];
  };

  port.on("message", (message: ToWriter) => {
    switch (message.kind) {
      case "write": {
        waiting.push(message);
        if (waiting.length >= SLICES_PER_TRANSACTION) {
          writeWaiting();
          return;
        }
        // By a timer also where it is due already: what came in during a slow transaction is taken
        // in first, or each slice of it would get a slow transaction of its own.
        const waitMs = begunAt + MIN_INTERVAL_MS - performance.now();
        timer ??= setTimeout(writeWaiting, Math.max(0, waitMs));
        return;
      }
      case "hurry":
        writeWaiting();
        pace.heed(message.time);
        return;
      case "close":
        writeWaiting();
        port.close();
        probe.close();
        void environment.close();
    }
  });
}

if (parentPort !== null) {
  const port = parentPort;
  lowerPriority(NICENESS);
  run(workerData, port, (message) => port.postMessage(message));
}
