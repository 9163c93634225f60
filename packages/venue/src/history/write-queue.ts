/**
 * What goes to the history's disk, and when. Entries come in command by command; they go out in
 * slices of a few hundred, each one transaction that also holds the position it reaches, so the
 * store is never half a command ahead or behind. A slice costs the order path a fraction of a
 * millisecond; the writing itself is done by lmdb's own thread.
 *
 * A crash loses the slices that had not committed: the log has their commands, and the next start
 * applies them again. A failed write is final: the store would fall behind for ever.
 */
import type { RootDatabase } from "lmdb";
import type { HistoryTable, Pending } from "./history-table.js";

/** How far a store has come. */
export interface Held {
  /** The engine's position after the last command held. */
  readonly position: number;
  /** Batches and records of the log that are held to the last. */
  readonly batch: number;
  readonly record: number;
}

interface Slice {
  readonly number: number;
  readonly entries: Pending[];
  held: Held;
}

interface Waiter {
  /** Entries that may still be on the way. */
  readonly atMost: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const ENTRIES_PER_SLICE = 2_048;
/** While nobody waits for an order: a transaction's cost is spread over more entries. */
const ENTRIES_PER_BULK_SLICE = 16_384;
const FLUSH_AFTER_MS = 100;
/** Slices that have committed and are not synced yet: more would only let the disk fall behind. */
const SLICES_IN_FLIGHT = 16;

export class WriteQueue {
  /** What the last durable transaction holds. */
  durable: Held;
  /** Set while a log is replayed and no order path is there to hold up. */
  isBulk = false;
  private latest: Held;
  /** Entries of closed slices that are not on disk. */
  private outstanding = 0;
  private open: Slice;
  private readonly closed: Slice[] = [];
  private inFlight = 0;
  /**
   * One at a time: lmdb goes on with the next transaction after one has failed, and a store that
   * holds a later position without an earlier slice would have a gap that nobody looks for.
   */
  private isCommitting = false;
  private timer: NodeJS.Timeout | undefined;
  private scheduled = false;
  private failure: Error | undefined;
  private waiters: Waiter[] = [];

  constructor(
    private readonly environment: RootDatabase<Buffer, Buffer>,
    held: Held,
    private readonly writeHeld: (held: Held) => Promise<boolean>,
    private readonly onDurable: (held: Held) => void,
    private readonly onFailure: (error: Error) => void,
  ) {
    this.durable = held;
    this.latest = held;
    this.open = { number: 1, entries: [], held };
  }

  /** Entries that are not on disk. */
  get backlog(): number {
    return this.outstanding + this.open.entries.length;
  }

  put(table: HistoryTable, key: Buffer, value: Buffer): void {
    const entry = table.put(key, value, this.open.number);
    if (entry !== undefined) this.open.entries.push(entry);
  }

  /** All entries of the command have been put. */
  endCommand(held: Held): void {
    this.latest = held;
    this.open.held = held;
    const limit = this.isBulk ? ENTRIES_PER_BULK_SLICE : ENTRIES_PER_SLICE;
    if (this.open.entries.length >= limit) {
      this.closeSlice();
      this.schedule();
    } else {
      this.timer ??= setTimeout(() => this.onTimer(), FLUSH_AFTER_MS);
    }
  }

  /** A batch has ended: what is held to the last moves on even if its commands left nothing. */
  endBatch(held: Held): void {
    this.latest = held;
    this.open.held = held;
  }

  /** Resolves once everything put so far is on disk. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.closeSlice();
    return this.settle(0);
  }

  /** Resolves once at most so many entries of closed slices are not on disk. */
  async settle(atMost: number): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    if (this.isSettled(atMost)) return;
    await new Promise<void>((resolve, reject) => {
      this.waiters.push({ atMost, resolve, reject });
      this.schedule();
    });
  }

  /** Nothing more is written. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.closed.length = 0;
    this.failure ??= new Error("the history is closed");
  }

  private onTimer(): void {
    this.timer = undefined;
    this.closeSlice();
    this.schedule();
  }

  private closeSlice(): void {
    const moved = this.latest.position !== this.durable.position || this.open.entries.length > 0;
    if (!moved) return;
    this.open.held = this.latest;
    this.closed.push(this.open);
    this.outstanding += this.open.entries.length;
    this.open = { number: this.open.number + 1, entries: [], held: this.latest };
  }

  /** One slice a turn of the event loop. */
  private schedule(): void {
    if (this.scheduled || this.isCommitting || this.closed.length === 0) return;
    if (this.inFlight >= SLICES_IN_FLIGHT) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      const slice = this.closed.shift();
      if (slice === undefined || this.failure !== undefined) return;
      this.inFlight++;
      this.isCommitting = true;
      this.write(slice).then(
        () => this.onWritten(slice),
        (error: unknown) => this.fail(error),
      );
    });
  }

  private async write(slice: Slice): Promise<void> {
    try {
      await this.environment.batch(() => {
        for (const { table, key, value } of slice.entries) heedless(table.database.put(key, value));
        heedless(this.writeHeld(slice.held));
      });
    } catch (error) {
      throw causeOf(error);
    }
    this.isCommitting = false;
    this.schedule();
    // A read begun before the commit must not be asked for what memory lets go of now.
    this.environment.resetReadTxn();
    for (const entry of slice.entries) entry.table.committed(entry);
    await this.environment.flushed;
    if (slice.held.position < this.durable.position) return;
    this.durable = slice.held;
    this.onDurable(slice.held);
  }

  private onWritten({ entries }: Slice): void {
    this.inFlight--;
    this.outstanding -= entries.length;
    this.schedule();
    const settled = this.waiters.filter(({ atMost }) => this.isSettled(atMost));
    if (settled.length === 0) return;
    this.waiters = this.waiters.filter((waiter) => !settled.includes(waiter));
    for (const waiter of settled) waiter.resolve();
  }

  private isSettled(atMost: number): boolean {
    // A slice without entries still holds a position.
    const isIdle = this.inFlight === 0 && this.closed.length === 0;
    return atMost === 0 ? isIdle : this.outstanding <= atMost;
  }

  private fail(cause: unknown): void {
    if (this.failure !== undefined) return;
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.failure = new Error(`the history cannot be written: ${reason}`, { cause });
    for (const waiter of this.waiters.splice(0)) waiter.reject(this.failure);
    this.onFailure(this.failure);
  }
}

/**
 * Each entry of a transaction that fails rejects a promise of its own, and what nobody hears ends the
 * process at once. The transaction's own promise tells it, and is heard.
 */
function heedless(outcome: Promise<boolean>): void {
  outcome.catch(() => undefined);
}

/** lmdb puts the reason into one more promise beside its error, which must be heard as well. */
function causeOf(error: unknown): unknown {
  if (error instanceof Error && "commitError" in error && error.commitError instanceof Promise) {
    error.commitError.catch(() => undefined);
  }
  return error;
}
