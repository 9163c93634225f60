/**
 * The history of a venue: what no engine rule needs but users read, such as past orders and fills. It
 * receives applied commands in order (those that it has already are skipped) and returns rows.
 *
 * It is derived from the log alone and contains only durable commands. After a crash the next start
 * applies again what had not reached the disk.
 */
import { AckTrees } from "../blocks/ack-trees.js";
import type { SealedBlock } from "../blocks/block-header.js";
import type { Applied } from "../replica.js";
import { type ChangeRow, OUTBOX_COMMANDS, outboxStart } from "./change-projection.js";
import type { Held } from "./history-environment.js";
import { HistoryReader } from "./history-reader.js";
import { type HistoryContext, HistoryRows } from "./history-rows.js";
import type { HistoryStore } from "./history-store.js";
import { WriteQueue } from "./write-queue.js";

export interface HistoryEvents {
  /** More is on disk. */
  onDurable(held: Held): void;
  /** A write failed; nothing more is written. */
  onFailure(error: Error): void;
  /** Memory of an `ExitDeadline`, which the writing thread sets when it fails. */
  readonly exitDeadline?: SharedArrayBuffer | undefined;
  /** Where it is written: in a separate thread (the default), or in the caller's. */
  readonly commit?: "thread" | "inline" | undefined;
  /** `OUTBOX_COMMANDS` unless it is set. */
  readonly outboxCommands?: number | undefined;
}

export class History extends HistoryReader {
  private readonly queue: WriteQueue;
  private readonly rows: HistoryRows;
  private held: Held;
  private readonly outboxCommands: number;
  /** Whether it must not be read any more. */
  isClosed = false;
  readonly ackTrees = new AckTrees(this);

  constructor(
    private readonly store: HistoryStore,
    context: HistoryContext,
    events: HistoryEvents,
  ) {
    super(store.tables);
    this.held = store.held;
    this.outboxCommands = events.outboxCommands ?? OUTBOX_COMMANDS;
    const { outboxCommands } = this;
    this.queue = new WriteQueue(
      { ...store, writerData: { ...store.writerData, outboxCommands } },
      (held) => events.onDurable(held),
      (error) => events.onFailure(error),
      events.exitDeadline,
      events.commit,
    );
    this.rows = new HistoryRows(
      store.tables,
      this.queue,
      context,
      (market, price, lots, timeMs) => {
        // `day` may load the candles now; they must not contain this trade yet.
        this.day(market, timeMs).onTrade(price, lots, timeMs);
      },
    );
    this.rows.changes.from = store.held.changesFrom;
  }

  /** Seq of the last command, on disk or queued. */
  get seq(): number {
    return this.held.position;
  }

  /** What is on disk. */
  get durable(): Held {
    return this.queue.durable;
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
   * will not have when it ends. A command has one record at least.
   */
  beginReplay(record: number): void {
    this.queue.isBulk = true;
    this.forgetChanges(record);
  }

  endReplay(): void {
    this.queue.isBulk = false;
    this.rows.changes.from = this.changesFrom;
  }

  sessionKey(session: number) {
    return this.rows.sessions.keyOf(session);
  }

  positionUpdatedAt(account: number, market: number): number {
    return this.rows.positions.updatedAt(account, market);
  }

  /** What the last command changed for accounts; empty if it was skipped. */
  get lastChanges(): readonly ChangeRow[] {
    return this.rows.changes.last;
  }

  /** `block` contains the command; `sealed` is the block that the command sealed. */
  onCommand(applied: Applied, block: number, sealed: SealedBlock | null): void {
    const { seq } = applied;
    if (seq <= this.held.position) return;
    this.rows.onCommand(applied, block, sealed);
    const { batch, record } = this.held;
    this.forgetChanges(seq);
    const { changesFrom } = this;
    this.held = { position: seq, batch, record, needs: batch + 1, changesFrom };
    this.queue.endCommand(this.held);
  }

  /** `end` is the position after a batch. */
  onBatchEnd(end: { readonly batch: number; readonly record: number }): void {
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

  flush(): Promise<void> {
    return this.queue.flush();
  }

  /** Resolves once at most `atMost` entries are not on disk. */
  settle(atMost: number): Promise<void> {
    return this.queue.settle(atMost);
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
      this.store.environment.close();
      await this.queue.close();
    }
  }
}
