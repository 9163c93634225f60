/**
 * Writes slices to the store, for the writing thread and for `InlineWriter`. Slices arrive in order; all
 * that arrive before the next transaction is due share it, so a slow disk makes transactions larger, not
 * the queue longer. Each transaction also writes the progress it reaches, so a crash never leaves half a
 * command.
 *
 * A failure is reported once, and nothing is written after it: a later slice without an earlier one
 * would be an undetected gap.
 */
import { ExitDeadline } from "@perpgate/journal";
import { type Environment, type StoredTables, TABLES, writeHeld } from "../history-environment.js";
import { eachEntry, USUAL_BYTES } from "../slice.js";
import type { DiskProbe } from "./disk-probe.js";
import {
  type FromWriter,
  SIGNAL,
  type ThreadData,
  type ToWriter,
  type WriteSlice,
} from "./messages.js";
import { Pacer } from "./pacer.js";

/**
 * Between two transactions, unless a flush is requested: each syncs pages all over the file, and the
 * log's syncs, which orders wait for, queue behind it.
 */
const MIN_INTERVAL_MS = 250;
/**
 * A transaction with more entries is put without pauses: at some four thousand orders per second two
 * cores are near their limit, and switching threads costs cache misses (about 5 % per order).
 */
const MOST_SPREAD_ENTRIES = 10_000;
/** Entries put between two pauses, in some tenths of a millisecond. */
const ENTRIES_PER_STEP = 64;
/** Bounds a transaction during a replay. */
const SLICES_PER_TRANSACTION = 64;

/** Thrown within a transaction to roll it back because the process ends. */
class Abandoned extends Error {
  override readonly name = "Abandoned";
}

export interface Store {
  readonly environment: Environment;
  readonly tables: StoredTables;
  readonly probe: DiskProbe;
  /** Over how long the entries of a transaction are spread; 0: not. */
  readonly spreadMs: number;
}

/** Returns what takes each message; the store stays open. */
export function slicesInto(
  { environment, tables: stored, probe, spreadMs }: Store,
  { logId, signals, exitDeadline }: ThreadData,
  post: (message: FromWriter) => void,
): (message: ToWriter) => void {
  const tables = TABLES.map((name) => stored[name]);
  const pacer = new Pacer(signals);
  const signal = new Int32Array(signals);
  const isAbandoned = () => Atomics.load(signal, SIGNAL.ABANDONED) !== 0;
  let waiting: WriteSlice[] = [];
  let timer: NodeJS.Timeout | undefined;
  let begunAt = Number.NEGATIVE_INFINITY;
  let hasFailed = false;
  let copy = Buffer.allocUnsafeSlow(USUAL_BYTES);

  /** lmdb accepts no shared memory. The copy is reused for the next slice: `putSync` copies each entry. */
  const copyOf = (shared: Uint8Array): Buffer => {
    if (shared.length > copy.length) copy = Buffer.allocUnsafeSlow(shared.length);
    copy.set(shared);
    return copy.subarray(0, shared.length);
  };

  const putAll = (slices: readonly WriteSlice[]): void => {
    const entries = slices.reduce((sum, { count }) => sum + count, 0);
    pacer.begin(entries / ENTRIES_PER_STEP, entries <= MOST_SPREAD_ENTRIES ? spreadMs : 0);
    let put = 0;
    for (const { memory, length } of slices) {
      eachEntry(copyOf(new Uint8Array(memory, 0, length)), (table, key, value) => {
        tables[table]!.putSync(key, value);
        if (++put % ENTRIES_PER_STEP !== 0) return;
        pacer.next();
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
        // Last, right before the commit writes the pages.
        probe.check(slices.reduce((sum, { length }) => sum + length, 0));
      });
      post({ kind: "written", number: last.number });
    } catch (error) {
      hasFailed = true;
      if (error instanceof Abandoned) return;
      const message = error instanceof Error ? error.message : String(error);
      // Before the message: the main thread may be blocked and never read it.
      if (exitDeadline !== undefined) {
        new ExitDeadline(exitDeadline).fail(`the history cannot be written: ${message}`);
      }
      post({ kind: "failed", message });
    }
  };

  const writeWaiting = (): void => {
    clearTimeout(timer);
    timer = undefined;
    begunAt = performance.now();
    write(waiting);
    waiting = [];
  };

  return (message) => {
    switch (message.kind) {
      case "write": {
        waiting.push(message);
        if (waiting.length >= SLICES_PER_TRANSACTION) {
          writeWaiting();
          return;
        }
        // A timer even if it is due already: the messages that arrived during a slow transaction are
        // read first, otherwise each of their slices would get its own slow transaction.
        const waitMs = begunAt + MIN_INTERVAL_MS - performance.now();
        timer ??= setTimeout(writeWaiting, Math.max(0, waitMs));
        return;
      }
      case "flush":
        writeWaiting();
        pacer.served(message.request);
        return;
      case "close":
        writeWaiting();
    }
  };
}
