/**
 * What goes to the history's disk, and when. Entries come in command by command; they go out in
 * slices of a few hundred to a few thousand, which a thread of its own writes, one transaction after
 * the other, so the order path neither waits for the disk nor does its work.
 *
 * A crash loses the slices that had not committed: the log has their commands, and the next start
 * applies them again. A failed write is final: the store would fall behind for ever.
 */
import type { Held } from "./history-environment.js";
import type { HistoryStore } from "./history-store.js";
import type { RowSink, RowTable, Spot } from "./rows.js";
import { Slice } from "./slice.js";
import { HistoryWriter } from "./thread/history-writer.js";

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
/** Some seconds of the fastest load, and some hundred bytes each. */
const MOST_ENTRIES = 500_000;
/**
 * Written slices that are kept to be filled again: as many as one transaction may hold. With fewer,
 * a fast load makes new ones all the time, and memory that threads share does not count with the
 * collector: what was let go of stayed for minutes, half a megabyte each.
 */
const SPARE_SLICES = 64;

export class WriteQueue implements RowSink {
  /** What the last transaction holds. */
  durable: Held;
  /** Set while a log is replayed and no order path is there to hold up. */
  isBulk = false;
  private latest: Held;
  /** Entries of closed slices that are not on disk. */
  private outstanding = 0;
  private open: Slice;
  /** What the store holds once each closed slice is written; the oldest first, as in `recent`. */
  private readonly closed: Held[] = [];
  /** All slices that are not on disk, the open one last: what tables read beside the disk. */
  private readonly recent: Slice[];
  private readonly spare: Slice[] = [];
  private readonly writer: HistoryWriter;
  private timer: NodeJS.Timeout | undefined;
  private failure: Error | undefined;
  private waiters: Waiter[] = [];

  constructor(
    private readonly store: HistoryStore,
    private readonly onDurable: (held: Held) => void,
    private readonly onFailure: (error: Error) => void,
    exitDeadline?: SharedArrayBuffer,
  ) {
    this.durable = store.held;
    this.latest = store.held;
    this.recent = store.recent;
    this.open = this.nextSlice(1);
    const events = {
      onWritten: (number: number) => this.onWritten(number),
      onFailure: (error: Error) => this.fail(error),
    };
    this.writer = new HistoryWriter(store.writerData, events, exitDeadline);
  }

  /** Entries that are not on disk. */
  get backlog(): number {
    return this.outstanding + this.open.count;
  }

  /** Whether so much waits for the disk that nothing should be added that can be refused. */
  get isBehind(): boolean {
    return this.backlog > MOST_ENTRIES;
  }

  put(table: RowTable, key: Uint8Array, value: Uint8Array): void {
    this.open.add(table.number, key, value);
  }

  putWords(
    table: RowTable,
    group: number,
    place: number,
    ordinal: number,
    words: ArrayLike<number>,
    length = words.length,
  ): void {
    this.open.addWords(table.number, group, place, ordinal, words, length);
  }

  /** For a row that changes often and keeps its length: within a slice it is written over. */
  putAgain(
    spot: Spot,
    table: RowTable,
    group: number,
    place: number,
    words: ArrayLike<number>,
  ): void {
    if (spot.slice === this.open.number) {
      this.open.writeWords(spot.at, words, words.length);
      return;
    }
    spot.at = this.open.addWords(table.number, group, place, 0, words, words.length);
    spot.slice = this.open.number;
  }

  /** All entries of the command have been put. */
  endCommand(held: Held): void {
    this.latest = held;
    const limit = this.isBulk ? ENTRIES_PER_BULK_SLICE : ENTRIES_PER_SLICE;
    if (this.open.count >= limit) this.closeSlice();
    else this.timer ??= setTimeout(() => this.onTimer(), FLUSH_AFTER_MS);
  }

  /** A batch has ended: what is held to the last moves on even if its commands left nothing. */
  endBatch(held: Held): void {
    this.latest = held;
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
    this.writer.hurry();
    await new Promise<void>((resolve, reject) => {
      this.waiters.push({ atMost, resolve, reject });
    });
  }

  /** Nothing more is written. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.failure ??= new Error("the history is closed");
  }

  /** Stops, and lets go of the store. Whoever waits for what could not be written hears of it. */
  async close(): Promise<void> {
    this.stop();
    await this.writer.close();
    this.rejectWaiters(this.failure ?? new Error("the history is closed"));
  }

  /** Stops without writing what was handed in; resolves once the thread has ended. */
  async abandon(): Promise<void> {
    this.stop();
    await this.writer.abandon();
    this.rejectWaiters(this.failure ?? new Error("the history is closed"));
  }

  private onTimer(): void {
    this.timer = undefined;
    this.closeSlice();
  }

  private closeSlice(): void {
    const { open, latest } = this;
    const before = this.closed.at(-1) ?? this.durable;
    const moved = latest.position !== before.position || open.count > 0;
    if (!moved || this.failure !== undefined) return;
    this.closed.push(latest);
    this.outstanding += open.count;
    this.writer.write(open, latest);
    this.open = this.nextSlice(open.number + 1);
  }

  private nextSlice(number: number): Slice {
    const slice = this.spare.pop() ?? new Slice(number);
    slice.begin(number);
    this.recent.push(slice);
    return slice;
  }

  private onWritten(number: number): void {
    // A read begun before the commit must not be asked for what memory lets go of now.
    this.store.environment.resetReadTxn();
    while (this.recent[0] !== undefined && this.recent[0].number <= number) {
      const slice = this.recent.shift()!;
      this.outstanding -= slice.count;
      this.durable = this.closed.shift()!;
      if (!slice.isOutgrown && this.spare.length < SPARE_SLICES) this.spare.push(slice);
    }
    this.onDurable(this.durable);
    const settled = this.waiters.filter(({ atMost }) => this.isSettled(atMost));
    if (settled.length === 0) return;
    this.waiters = this.waiters.filter((waiter) => !settled.includes(waiter));
    for (const waiter of settled) waiter.resolve();
  }

  private isSettled(atMost: number): boolean {
    // A slice without entries still holds a position.
    return atMost === 0 ? this.closed.length === 0 : this.outstanding <= atMost;
  }

  private fail(failure: Error): void {
    // Also after a stop, which leaves those who wait to what is under way.
    this.rejectWaiters(failure);
    if (this.failure !== undefined) return;
    this.failure = failure;
    this.onFailure(failure);
  }

  private rejectWaiters(reason: Error): void {
    for (const waiter of this.waiters.splice(0)) waiter.reject(reason);
  }
}
