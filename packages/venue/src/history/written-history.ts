/**
 * A history that makes its rows from the commands that it is given, in order, and writes them; those that the
 * store has already are skipped. After a crash the next start applies again what had not reached the disk.
 */
import type { LogSeq } from "@perpgate/journal";
import type { SealedBlock } from "../blocks/block-header.js";
import type { SnapshotOutcome, TakenSnapshot } from "../checkpoint/snapshot-writer.js";
import type { Applied } from "../replica.js";
import { OUTBOX_COMMANDS, outboxStart } from "./change-projection.js";
import { History } from "./history.js";
import type { Held } from "./history-environment.js";
import type { HistoryRows } from "./history-rows.js";
import type { HistoryStore } from "./history-store.js";
import { type HistoryEdge, OUT_OF_WINDOW, Window } from "./retention.js";
import type { Database } from "./sqlite.js";
import { MAX_TAIL_BYTES, type QueueEvents, WriteQueue } from "./write-queue.js";

/**
 * History entries not on disk, and their bytes, at which the replay waits. A transaction touches most pages
 * of the indexes by account, so fewer and larger ones write less: a third faster than with 100,000 entries.
 */
const MAX_BACKLOG = 400_000;
const MAX_BACKLOG_BYTES = MAX_TAIL_BYTES / 2;
export class WrittenHistory extends History {
  private readonly queue: WriteQueue;
  private readonly environment: Database;
  private held: Held;
  private readonly outboxCommands: number;
  /** Undefined: all rows are kept. */
  private readonly window: Window | undefined;
  /** During a replay: rows of commands before this time would be dropped at once. */
  private windowFromMs = 0;
  private isOutOfWindow = false;

  private constructor(store: HistoryStore, rows: HistoryRows, events: QueueEvents) {
    const { tables, held, recent, environment, writerData } = store;
    super(tables, rows);
    this.held = held;
    this.environment = environment;
    this.outboxCommands = events.outboxCommands ?? OUTBOX_COMMANDS;
    this.queue = new WriteQueue(
      held,
      recent,
      { ...writerData, outboxCommands: this.outboxCommands },
      events,
    );
    rows.changes.from = held.changesFrom;
    // A rebuild that was ended before the window.
    this.isOutOfWindow = held.keptFrom > held.position;
    const { retention, archived = () => undefined } = events;
    this.window = retention === undefined ? undefined : new Window(retention, this, archived);
  }

  /** The next command may be one that the store has: it is skipped. */
  static open(store: HistoryStore, rows: HistoryRows, events: QueueEvents): WrittenHistory {
    return new WrittenHistory(store, rows, events);
  }

  get isRebuilding(): boolean {
    return false;
  }

  /** Seq of the last command, on disk or queued. */
  get seq(): number {
    return this.held.position;
  }

  /** What is on disk. */
  get durable(): Held {
    return this.queue.durable;
  }

  get made(): number {
    return this.held.position;
  }

  get edge(): HistoryEdge {
    return this.held;
  }

  protected get keptAfter(): number {
    return 0;
  }

  get backlog(): number {
    return this.queue.backlog;
  }

  /** Bytes of rows that are not on disk. */
  get tailBytes(): number {
    return this.queue.tailBytes;
  }

  /** Size of the store's write-ahead file. */
  get walBytes(): number {
    return this.queue.walBytes;
  }

  /** The first command whose changes are kept, unless there was none after it. */
  get changesFrom(): number {
    return Math.min(this.rows.changes.from, this.seq + 1);
  }

  /**
   * A replay up to `record` begins: larger slices, because no order waits, and no changes that the outbox
   * will not have when it ends. A command has one record at least. `windowFromMs`: rows of earlier commands
   * are not written.
   */
  beginReplay(record: number, windowFromMs = 0): void {
    this.queue.isBulk = true;
    this.windowFromMs = windowFromMs;
    this.forgetChanges(record);
  }

  endReplay(): void {
    this.queue.isBulk = false;
    this.rows.changes.from = this.changesFrom;
  }

  /** `block` contains the command; `sealed` is the block that the command sealed. */
  onCommand(applied: Applied, block: number, sealed: SealedBlock | null): void {
    const { seq } = applied;
    if (seq <= this.held.position) {
      this.rows.onCommand(applied, block, sealed);
      return;
    }
    this.attach(applied);
    this.rows.onCommand(applied, block, sealed);
    this.forgetChanges(seq);
    const edge = this.moved(applied, sealed);
    const { held, changesFrom } = this;
    this.held = { ...held, position: seq, needs: held.batch + 1, changesFrom, ...edge };
    this.queue.endCommand(this.held);
  }

  private attach({ timeMs }: Applied): void {
    const isOut = timeMs < this.windowFromMs;
    if (this.isOutOfWindow && !isOut) {
      // Their rows were not written when they were placed.
      this.rows.attach(this.queue);
      this.rows.orders.putOpen();
    }
    this.isOutOfWindow = isOut;
    this.rows.attach(this.queue, isOut ? OUT_OF_WINDOW : undefined);
  }

  /** Where the window begins after the command, if that has changed. */
  private moved({ seq, timeMs }: Applied, sealed: SealedBlock | null): HistoryEdge | undefined {
    if (this.isOutOfWindow) {
      this.rows.changes.from = Math.max(this.rows.changes.from, seq + 1);
      return { keptFrom: seq + 1, keptFromMs: this.windowFromMs };
    }
    if (this.queue.isBulk) return undefined;
    return this.window?.moved(this.held, timeMs, sealed !== null, this.queue.stored);
  }

  /** `end` is the position after a batch. */
  onBatchEnd(end: LogSeq): void {
    if (end.batch <= this.held.batch) return;
    const { batch, record } = end;
    this.held = { ...this.held, batch, record, needs: batch };
    this.queue.endBatch(this.held);
  }

  /** Leaves the changes of the last commands up to `seq` in the outbox. */
  private forgetChanges(seq: number): void {
    const { changes } = this.rows;
    changes.from = Math.max(changes.from, outboxStart(seq, this.outboxCommands));
  }

  /** For a mirror, which delivers batches before they are on disk: that many are. */
  onLogOnDisk(batches: number): void {
    this.queue.onLogOnDisk(batches);
  }

  reached(): undefined {
    return undefined;
  }

  /** Closes the open slice, which `onSlice` gets. */
  cut(): void {
    this.queue.cut();
  }

  /** The rows of everything in it must be on disk. */
  writeSnapshot(snapshot: TakenSnapshot): void {
    this.queue.writeSnapshot(snapshot);
  }

  set onSnapshotWritten(take: (outcome: SnapshotOutcome) => void) {
    this.queue.onSnapshotWritten = take;
  }

  flush(): Promise<void> {
    return this.queue.flush();
  }

  /** Resolves once at most `atMost` entries are not on disk. */
  settle(atMost: number): Promise<void> {
    return this.queue.settle(atMost);
  }

  /** For a replay, which makes rows faster than the disk takes them: waits while it is far behind. */
  async settleFar(): Promise<void> {
    const { backlog, tailBytes } = this;
    const isFar = backlog > MAX_BACKLOG || tailBytes > MAX_BACKLOG_BYTES;
    if (isFar) await this.settle(Math.floor(backlog / 2));
  }

  /** While it is far behind: resolves once half of what it may be behind is on disk. Otherwise undefined. */
  room(): Promise<void> | undefined {
    return this.queue.room();
  }

  /** Writes nothing more: the next start makes the missing rows from the log. */
  halt(): void {
    this.queue.stop();
  }

  /** Ends the writing thread without writing the backlog, before the process exits. */
  abandon(): Promise<void> {
    this.isClosed = true;
    return this.queue.abandon();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    try {
      await this.queue.flush();
    } finally {
      // First: the last connection that closes moves the write-ahead file into the store's, and may write.
      this.environment.close();
      await this.queue.close();
    }
  }
}
