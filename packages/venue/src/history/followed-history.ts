/**
 * The history of a venue whose rows the store's thread makes (recovery/store-follower.ts). The thread gets the
 * log's batches, some times a second and at once when a list is read, and sends the rows that it has made in
 * slices, which are read here until the store has them.
 *
 *   1. behind   the thread reads the log by itself; lists throw `history_rebuilding`
 *   2. live     from `begin` on: the store has everything up to a batch, the thread gets all batches after it
 *
 * What must be found in the turn in which its command is applied is in memory: row-tail.ts, and what the
 * projections keep for later rows.
 */
import type { Batch, LogSeq } from "@perpgate/journal";
import { ApiError } from "@perpgate/protocol/core";
import type { SealedBlock } from "../blocks/block-header.js";
import type { Applied } from "../replica.js";
import type { AckRow } from "./ack-row.js";
import { BatchPacker, type PackedBatches } from "./batch-packer.js";
import { OUTBOX_COMMANDS, outboxStart } from "./change-projection.js";
import { History, type HistoryEvents } from "./history.js";
import { type Held, TABLES } from "./history-environment.js";
import type { HistoryRows } from "./history-rows.js";
import { type HistoryStore, NOTHING_HELD, tablesOf } from "./history-store.js";
import type { HistoryEdge } from "./retention.js";
import { RowTail, TAIL_TABLES } from "./row-tail.js";
import { Slice } from "./slice.js";
import type { Database } from "./sqlite.js";
import {
  FetchedRows,
  FetchedTable,
  missingIn,
  type PastRead,
  type Ran,
  type RunningRead,
} from "./store-read.js";
import type { StoreReader } from "./thread/store-reader.js";

/** A slice that the thread has closed. */
export interface MadeSlice {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly count: number;
  readonly held: Held;
  /** The last block sealed by then, and its hash in hex. */
  readonly block: number;
  readonly blockHash: string;
}

/** What the history asks of the thread while it is live. */
export interface RowMaker {
  /** Ends once everything that it was given is written. */
  close(): Promise<void>;
  /** Ends at once. */
  abandon(): Promise<void>;
  make(batches: PackedBatches): void;
  flush(): void;
  onLogOnDisk(batches: number): void;
}

interface Waiter {
  readonly position: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Between two messages to the thread, unless a list is read. */
const PASS_EVERY_MS = 50;
/** At which they are passed at once. */
const PASS_BYTES = 512 * 1024;
/** The thread's own limit of rows that are not on disk is as high. */
const MAX_PASSED_BYTES = 256 * 1024 * 1024;
/** What a list waits for at most. */
const REACH_MS = 5_000;
/** Commands without rows above which a reader of a replicated log waits. */
const MOST_BEHIND = 100_000;
/** While the store is rebuilt: commands whose rows are kept in memory. */
const KEPT_COMMANDS = 10_000;

export class FollowedHistory extends History {
  private position: number;
  private madeHeld: Held;
  private durableHeld: Held = NOTHING_HELD;
  private environment: Database | undefined;
  private maker: RowMaker | undefined;
  /** Whether batches are kept for the thread. */
  private isPassing = false;
  private readonly packer = new BatchPacker();
  /** Messages that the thread has not answered with rows: their ends and bytes. */
  private readonly passed: { readonly position: number; readonly bytes: number }[] = [];
  private passedBytes = 0;
  private received: { readonly slice: Slice; readonly held: Held }[] = [];
  private receivedBytes = 0;
  private receivedRows = 0;
  private sliceNumber = 0;
  private keptFrom: number;
  /** Blocks that were sealed since the thread's were last compared with them. */
  private sealed: SealedBlock[] = [];
  private readonly tail = new RowTail(() => this.showSlices());
  private readonly recent: Slice[];
  private waiters: Waiter[] = [];
  private flushes: Waiter[] = [];
  private timer: NodeJS.Timeout | undefined;
  private failure: Error | undefined;
  private readonly outboxCommands: number;
  private changesKeptFrom = Number.POSITIVE_INFINITY;
  /** Undefined: this thread reads the store itself. */
  private reader: StoreReader | undefined;
  private readonly running: RunningRead = { rows: undefined };
  /** Numbers of the reads that have begun and not ended, ascending. */
  private readonly reads = new Set<number>();
  private lastRead = 0;
  /** Written slices, each with the last read that had begun by then: a read may have fetched before that. */
  private lingering: { readonly slice: Slice; readonly read: number }[] = [];
  walBytes = 0;

  /** The next command is the one after `position`. */
  constructor(
    position: number,
    rows: HistoryRows,
    private readonly events: HistoryEvents,
  ) {
    const recent: Slice[] = [];
    super(tablesOf(undefined, recent), rows);
    this.recent = recent;
    this.position = position;
    this.keptFrom = position;
    this.madeHeld = { ...NOTHING_HELD, position };
    this.outboxCommands = events.outboxCommands ?? OUTBOX_COMMANDS;
    this.showSlices();
  }

  get seq(): number {
    return this.position;
  }

  get isRebuilding(): boolean {
    return this.environment === undefined;
  }

  get durable(): Held {
    return this.durableHeld;
  }

  get made(): number {
    return this.isRebuilding ? this.position : this.madeHeld.position;
  }

  get backlog(): number {
    return this.receivedRows;
  }

  get tailBytes(): number {
    return this.receivedBytes + this.passedBytes + this.packer.bytes;
  }

  get changesFrom(): number {
    const kept = outboxStart(this.position, this.outboxCommands);
    return Math.min(Math.max(kept, this.changesKeptFrom), this.position + 1);
  }

  protected get keptAfter(): number {
    return this.keptFrom;
  }

  get edge(): HistoryEdge {
    return this.madeHeld;
  }

  override leaf(seq: number): AckRow | undefined {
    return this.tail.ack(seq) ?? super.leaf(seq);
  }

  override acksBetween(first: number, last: number, limit = last - first + 1): AckRow[] {
    const made = super.acksBetween(first, last, limit);
    const from = (made.at(-1)?.seq ?? first - 1) + 1;
    return [...made, ...this.tail.acksBetween(from, last, limit - made.length)];
  }

  /** Begins to keep rows and, from the next batch on, batches: the thread applies the log up to this one. */
  pass(): void {
    this.isPassing = true;
  }

  /** From now on commands are live: the rows that are needed at once are kept. */
  keep(): void {
    this.rows.attach(this.tail, TAIL_TABLES);
    this.keptFrom = this.position;
  }

  /** The thread, which follows the log by itself until `begin`. */
  use(maker: RowMaker): void {
    this.maker = maker;
  }

  /** The store has everything up to where `pass` was called. */
  begin({ environment, held }: HistoryStore, reader?: StoreReader): void {
    const { running } = this;
    for (const name of TABLES) this.tables[name].use(new FetchedTable(environment, name, running));
    this.reader = reader;
    this.environment = environment;
    this.durableHeld = held;
    this.madeHeld = held;
    this.changesKeptFrom = held.changesFrom;
    this.passNow();
  }

  onCommand(applied: Applied, block: number, sealed: SealedBlock | null): void {
    this.rows.onCommand(applied, block, sealed);
    this.position = applied.seq;
    this.tail.endCommand(applied.seq);
    if (sealed !== null && this.isPassing) this.sealed.push(sealed);
    if (!this.isRebuilding || this.position - this.keptFrom < 2 * KEPT_COMMANDS) return;
    this.keptFrom = this.position - KEPT_COMMANDS;
    this.tail.forget(this.keptFrom, this.position);
  }

  onBatchEnd(_end: LogSeq, batch: Batch): void {
    if (!this.isPassing || this.failure !== undefined) return;
    this.packer.add(batch);
    this.checkBehind();
    if (this.isRebuilding) return;
    if (this.packer.bytes >= PASS_BYTES) this.passNow();
    else this.timer ??= setTimeout(() => this.passNow(), PASS_EVERY_MS);
  }

  onMade({ bytes, count, held, block, blockHash }: MadeSlice): void {
    this.compare(block, blockHash);
    this.madeHeld = held;
    this.sliceNumber++;
    if (count > 0) {
      this.received.push({ slice: Slice.of(this.sliceNumber, bytes, count), held });
      this.receivedBytes += bytes.length;
      this.receivedRows += count;
    }
    while (this.passed[0] !== undefined && this.passed[0].position <= held.position) {
      this.passedBytes -= this.passed.shift()!.bytes;
    }
    this.tail.forget(held.position, this.position);
    this.waiters = settled(this.waiters, held.position);
  }

  onWritten(held: Held, walBytes: number): void {
    this.walBytes = walBytes;
    this.durableHeld = held;
    while (this.received[0] !== undefined && this.received[0].held.position <= held.position) {
      const { slice } = this.received.shift()!;
      this.receivedBytes -= slice.length;
      this.receivedRows -= slice.count;
      if (this.reads.size > 0) this.lingering.push({ slice, read: this.lastRead });
    }
    this.showSlices();
    this.flushes = settled(this.flushes, held.position);
  }

  fail(error: Error): void {
    if (this.failure !== undefined) return;
    this.stop(error);
    this.events.onFailure(error);
  }

  onLogOnDisk(batches: number): void {
    this.maker?.onLogOnDisk(batches);
  }

  override beginRead(): PastRead {
    const { reader } = this;
    if (reader === undefined) return super.beginRead();
    const number = ++this.lastRead;
    const rows = new FetchedRows();
    this.reads.add(number);
    return {
      run: (work) => this.run(reader, rows, work),
      end: () => this.endRead(number),
    };
  }

  private run<T>(reader: StoreReader, rows: FetchedRows, work: () => T): Ran<T> {
    const { running } = this;
    const outer = running.rows;
    running.rows = rows;
    try {
      return { isDone: true, value: work() };
    } catch (error) {
      missingIn(error);
      return { isDone: false, fetched: this.fetch(reader, rows) };
    } finally {
      running.rows = outer;
    }
  }

  /**
   * The store has the rows up to D = `durable` when a read begins, and slices after D stay until it ends. Its
   * fetches find the store at positions from D on. Once the slices up to the last of these are here, each range
   * has the same rows, those up to `made`: none is missing, and one that the store has too is found by its key.
   */
  private async fetch(reader: StoreReader, rows: FetchedRows): Promise<void> {
    const position = await reader.fetch(rows);
    if (this.made < position) await this.whenMade(position, REACH_MS);
  }

  private endRead(number: number): void {
    this.reads.delete(number);
    if (this.lingering.length === 0) return;
    const [oldest = Number.POSITIVE_INFINITY] = this.reads;
    this.lingering = this.lingering.filter(({ read }) => read >= oldest);
    this.showSlices();
  }

  reached(): Promise<void> | undefined {
    const { position } = this;
    if (this.isRebuilding || this.made >= position) return undefined;
    // Also if there is nothing to pass: the thread makes rows without rests then.
    this.passNow(true);
    return this.whenMade(position, REACH_MS);
  }

  flush(): Promise<void> {
    const { position, failure } = this;
    if (failure !== undefined) return Promise.reject(failure);
    if (!this.isRebuilding && this.durable.position >= position) return Promise.resolve();
    this.passNow();
    this.maker?.flush();
    return new Promise((resolve, reject) => this.flushes.push({ position, resolve, reject }));
  }

  room(): Promise<void> | undefined {
    const behind = this.position - this.made;
    return behind > MOST_BEHIND ? this.whenMade(this.position - MOST_BEHIND / 2) : undefined;
  }

  halt(): void {
    this.stop(new Error("the history is closed"));
  }

  async abandon(): Promise<void> {
    this.isClosed = true;
    this.halt();
    this.reader?.abandon();
    await this.maker?.abandon();
    this.closeStore();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.passNow();
    this.halt();
    // First: the last connection that closes moves the write-ahead file into the store's, and may write.
    this.closeStore();
    await this.reader?.close();
    try {
      await this.maker?.close();
    } catch (error) {
      this.events.onFailure(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private closeStore(): void {
    if (this.environment?.isOpen === true) this.environment.close();
  }

  /** Two replicas of one log that seal different blocks: neither can be trusted. */
  private compare(block: number, blockHash: string): void {
    const own = this.sealed.find(({ number }) => number === block)?.hash.toString("hex");
    this.sealed = this.sealed.filter(({ number }) => number > block);
    if (own === undefined || own === blockHash) return;
    const text = `block ${block} is ${own} here and ${blockHash} in the store's thread`;
    this.fail(new Error(`the replicas differ: ${text}`));
  }

  private passNow(isAwaited = false): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.isRebuilding || this.failure !== undefined) return;
    if (this.packer.isEmpty && !isAwaited) return;
    const { bytes } = this.packer;
    this.passed.push({ position: this.position, bytes });
    this.passedBytes += bytes;
    this.maker?.make(this.packer.take());
  }

  private checkBehind(): void {
    if (this.passedBytes + this.packer.bytes <= MAX_PASSED_BYTES) return;
    const size = `${MAX_PASSED_BYTES / 2 ** 20} MiB`;
    this.fail(new Error(`the history is ${size} behind: its thread is too slow`));
  }

  /** `withinMs`: it rejects afterwards. */
  private whenMade(position: number, withinMs?: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = () => reject(this.lagging(position));
      const timer = withinMs === undefined ? undefined : setTimeout(late, withinMs);
      const done = (settle: () => void) => () => {
        clearTimeout(timer);
        settle();
      };
      this.waiters.push({
        position,
        resolve: done(resolve),
        reject: (error) => done(() => reject(error))(),
      });
    });
  }

  /** The refusal of a read that has waited too long. */
  lagging(position = this.made): ApiError {
    return new ApiError("lagging", { position }, { details: { retryAfterMs: 1_000 } });
  }

  private stop(error: Error): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.failure ??= error;
    for (const { reject } of this.waiters.splice(0)) reject(new ApiError("stopped", {}));
    for (const { reject } of this.flushes.splice(0)) reject(error);
  }

  private showSlices(): void {
    const written = this.lingering.map(({ slice }) => slice);
    const made = this.received.map(({ slice }) => slice);
    this.recent.splice(0, this.recent.length, ...written, ...made, ...this.tail.slices);
  }
}

/** Resolves those that have waited for a position up to this one; returns the others. */
function settled(waiters: readonly Waiter[], position: number): Waiter[] {
  const isDone = (waiter: Waiter) => waiter.position <= position;
  for (const waiter of waiters) if (isDone(waiter)) waiter.resolve();
  return waiters.filter((waiter) => !isDone(waiter));
}
