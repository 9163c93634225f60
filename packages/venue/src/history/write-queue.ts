/**
 * Collects the history's entries command by command into slices of some hundred to some thousand
 * entries, which the writing thread commits in order. The order path never waits for the disk.
 *
 * Life of a slice: `open` (being filled, last in `recent`) → closed (posted, at the latest once the log
 * is on disk as far; its progress in `closed`, still readable in `recent`) → committed (`onWritten` removes it from `recent`) → `spare`. A crash
 * loses the slices that were not committed; the next start applies their commands from the log again.
 * A failed write is final: a gap could never be filled.
 */
import type {
  SnapshotFiles,
  SnapshotOutcome,
  TakenSnapshot,
} from "../checkpoint/snapshot-writer.js";
import type { HistoryEvents } from "./history.js";
import type { Held } from "./history-environment.js";
import type { StoredRows } from "./retention.js";
import { Slice, SliceSink } from "./slice.js";
import { HistoryWriter, InlineWriter, type SliceWriter } from "./thread/history-writer.js";
import type { WriterData, Written } from "./thread/messages.js";

interface Waiter {
  /** Entries that may still be missing on disk. */
  readonly atMost: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const ENTRIES_PER_SLICE = 2_048;
/** During a replay: fewer, larger transactions. */
const ENTRIES_PER_BULK_SLICE = 16_384;
const FLUSH_AFTER_MS = 100;
/** Entries in memory above which a reader of a replicated log waits. */
const MOST_ENTRIES = 500_000;
/**
 * Bytes of slices that are not on disk: minutes of the highest load. A store that is further behind, because
 * the disk stalls or another tool holds its lock, ends the process; orders never wait for it.
 */
export const MAX_TAIL_BYTES = 256 * 1024 * 1024;
/** Committed slices kept for reuse. */
const SPARE_SLICES = 16;

export interface QueueEvents extends HistoryEvents {
  /** More is on disk. */
  onDurable(held: Held): void;
  /** Unset: no snapshots are written. */
  readonly snapshots?: SnapshotFiles | undefined;
  /** A slice is closed, with the progress that it brings. */
  readonly onSlice?: ((slice: Slice, held: Held) => void) | undefined;
}

export class WriteQueue extends SliceSink {
  /** Progress of the last committed transaction. */
  durable: Held;
  /** Set during a replay: larger slices, because no order waits. */
  isBulk = false;
  private latest: Held;
  /** Entries of closed slices that are not on disk, and their bytes. */
  private outstanding = 0;
  private outstandingBytes = 0;
  /** Size of the write-ahead file after the last transaction. */
  walBytes = 0;
  /** As of the last transaction. */
  stored: StoredRows = { bytes: 0, sweptTo: 0 };
  protected open: Slice;
  /** Progress that each closed slice brings, the oldest first, as in `recent`. */
  private readonly closed: Held[] = [];
  /** Closed slices that wait for the log to be on disk as far as they are. */
  private readonly heldBack: { readonly slice: Slice; readonly held: Held }[] = [];
  /** Batches of the log on disk. A log that delivers only those needs no waiting. */
  private logOnDisk = Number.POSITIVE_INFINITY;
  /** All slices that are not on disk, the open one last; tables read them before the disk. */
  private readonly recent: Slice[];
  private readonly spare: Slice[] = [];
  private readonly writer: SliceWriter;
  private timer: NodeJS.Timeout | undefined;
  private failure: Error | undefined;
  private waiters: Waiter[] = [];
  /** What became of the last snapshot. */
  onSnapshotWritten: (outcome: SnapshotOutcome) => void = () => undefined;

  /** `held`: what the rows begin after. */
  constructor(
    held: Held,
    recent: Slice[],
    writerData: WriterData,
    private readonly events: QueueEvents,
  ) {
    super();
    this.durable = held;
    this.latest = held;
    this.recent = recent;
    this.open = this.nextSlice(1);
    const writerEvents = {
      onWritten: (written: Written) => this.onWritten(written),
      onSnapshot: (outcome: SnapshotOutcome) => this.onSnapshotWritten(outcome),
      onFailure: (error: Error) => this.fail(error),
    };
    const Writer = events.commit === "inline" ? InlineWriter : HistoryWriter;
    const data = { ...writerData, snapshots: events.snapshots };
    this.writer = new Writer(data, writerEvents, events.exitDeadline);
  }

  /** Entries that are not on disk. */
  get backlog(): number {
    return this.outstanding + this.open.count;
  }

  /** Bytes of the entries that are not on disk. */
  get tailBytes(): number {
    return this.outstandingBytes + this.open.length;
  }

  /** The log has that many batches on disk, and may deliver batches before they are. */
  onLogOnDisk(batches: number): void {
    this.logOnDisk = batches;
    this.writeReleased();
  }

  /** Called after all entries of a command. */
  endCommand(held: Held): void {
    this.latest = held;
    const limit = this.isBulk ? ENTRIES_PER_BULK_SLICE : ENTRIES_PER_SLICE;
    if (this.open.count >= limit) this.closeSlice();
    else this.timer ??= setTimeout(() => this.onTimer(), FLUSH_AFTER_MS);
  }

  /** Called after a batch: the progress advances even if its commands made no entries. */
  endBatch(held: Held): void {
    this.latest = held;
  }

  /** Resolves once all entries so far are on disk. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.closeSlice();
    return this.settle(0);
  }

  cut(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.closeSlice();
  }

  /** The rows of everything in it must be on disk. */
  writeSnapshot(snapshot: TakenSnapshot): void {
    if (this.failure === undefined) this.writer.writeSnapshot(snapshot);
  }

  /** Resolves once at most `atMost` entries of closed slices are not on disk. */
  async settle(atMost: number): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    if (this.isSettled(atMost)) return;
    this.writer.flush();
    await new Promise<void>((resolve, reject) => {
      this.waiters.push({ atMost, resolve, reject });
    });
  }

  /** With more than `MOST_ENTRIES` in memory: resolves once half of them are on disk. Otherwise undefined. */
  room(): Promise<void> | undefined {
    return this.backlog > MOST_ENTRIES ? this.settle(MOST_ENTRIES / 2) : undefined;
  }

  /** Writes nothing more. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.failure ??= new Error("the history is closed");
  }

  /** Stops and closes the store; rejects pending `settle` calls. */
  async close(): Promise<void> {
    this.stop();
    await this.writer.close();
    this.rejectWaiters(this.failure ?? new Error("the history is closed"));
  }

  /** Stops without writing closed slices; resolves once the thread has ended. */
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
    this.outstandingBytes += open.length;
    this.heldBack.push({ slice: open, held: latest });
    this.events.onSlice?.(open, latest);
    this.writeReleased();
    this.open = this.nextSlice(open.number + 1);
    if (this.outstandingBytes <= MAX_TAIL_BYTES) return;
    const size = `${MAX_TAIL_BYTES / 2 ** 20} MiB`;
    this.fail(
      new Error(`the history is ${size} behind: its disk stalls, or another tool locks it`),
    );
  }

  /** Posts the closed slices, in order, that need no more of the log than is on disk. */
  private writeReleased(): void {
    for (;;) {
      const next = this.heldBack[0];
      if (next === undefined || next.held.needs > this.logOnDisk) return;
      this.heldBack.shift();
      this.writer.write(next.slice, next.held);
    }
  }

  private nextSlice(number: number): Slice {
    const slice = this.spare.pop() ?? new Slice(number);
    slice.begin(number);
    this.recent.push(slice);
    return slice;
  }

  private forgetFirst(): void {
    const slice = this.recent.shift()!;
    this.outstanding -= slice.count;
    this.outstandingBytes -= slice.length;
    this.durable = this.closed.shift()!;
    if (!slice.isOutgrown && this.spare.length < SPARE_SLICES) this.spare.push(slice);
  }

  private onWritten({ number, walBytes, stored }: Written): void {
    this.walBytes = walBytes;
    this.stored = stored;
    while (this.recent[0] !== undefined && this.recent[0].number <= number) {
      this.forgetFirst();
    }
    this.events.onDurable(this.durable);
    const settled = this.waiters.filter(({ atMost }) => this.isSettled(atMost));
    if (settled.length === 0) return;
    this.waiters = this.waiters.filter((waiter) => !settled.includes(waiter));
    for (const waiter of settled) waiter.resolve();
  }

  private isSettled(atMost: number): boolean {
    // A slice without entries still advances the progress.
    return atMost === 0 ? this.closed.length === 0 : this.outstanding <= atMost;
  }

  private fail(failure: Error): void {
    // Also after a stop: pending `settle` calls wait for the slices in flight.
    this.rejectWaiters(failure);
    if (this.failure !== undefined) return;
    this.failure = failure;
    this.events.onFailure(failure);
  }

  private rejectWaiters(reason: Error): void {
    for (const waiter of this.waiters.splice(0)) waiter.reject(reason);
  }
}
