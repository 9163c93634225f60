/**
 * The history of a venue: what no engine rule needs but users read, such as past orders and fills. It
 * receives applied commands in order (those that it has already are skipped) and returns rows.
 *
 * It is derived from the log alone and contains only durable commands. After a crash the next start
 * applies again what had not reached the disk.
 *
 * It may begin without a store, while another thread rebuilds that (recovery/rebuild.ts). Then it has the rows
 * of the last commands, and reads of earlier ones throw `history_rebuilding`, until `attach`.
 */
import { AckTrees } from "../blocks/ack-trees.js";
import type { SealedBlock } from "../blocks/block-header.js";
import type { Applied } from "../replica.js";
import { type ChangeRow, OUTBOX_COMMANDS, outboxStart } from "./change-projection.js";
import { type Held, TABLES } from "./history-environment.js";
import { HistoryReader } from "./history-reader.js";
import type { HistoryRows } from "./history-rows.js";
import { type HistoryStore, NOTHING_HELD, tablesOf } from "./history-store.js";
import type { PlacedRow } from "./row-pages.js";
import type { Slice } from "./slice.js";
import type { Database } from "./sqlite.js";
import { StoredTable } from "./stored-table.js";
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

/** Where a history without a store begins. */
export interface Begin {
  readonly position: number;
  readonly batch: number;
  readonly record: number;
}

export class History extends HistoryReader {
  private readonly queue: WriteQueue;
  /** Undefined while another thread rebuilds the store. */
  private environment: Database | undefined;
  private held: Held;
  /** How much of the store is rebuilt, from 0 to 1. */
  rebuilt = 0;
  private readonly outboxCommands: number;
  /** Whether it must not be read any more. */
  isClosed = false;
  readonly ackTrees = new AckTrees(this);

  private constructor(
    tables: HistoryStore["tables"],
    recent: Slice[],
    held: Held,
    rows: HistoryRows,
    private readonly events: HistoryEvents,
  ) {
    super(tables, rows);
    this.held = held;
    this.outboxCommands = events.outboxCommands ?? OUTBOX_COMMANDS;
    this.queue = new WriteQueue(
      held,
      recent,
      (durable) => events.onDurable(durable),
      (error) => events.onFailure(error),
    );
    rows.changes.from = held.changesFrom;
  }

  /** The next command may be one that the store has: it is skipped. */
  static open(store: HistoryStore, rows: HistoryRows, events: HistoryEvents): History {
    const { tables, recent, held } = store;
    const history = new History(tables, recent, held, rows, events);
    history.begin(store);
    return history;
  }

  /** Without a store; the next command is the one after `begin`. */
  static rebuilding(begin: Begin, rows: HistoryRows, events: HistoryEvents): History {
    const recent: Slice[] = [];
    const { position, batch, record } = begin;
    const held = { position, batch, record, needs: batch, changesFrom: position + 1 };
    return new History(tablesOf(undefined, recent), recent, held, rows, events);
  }

  get isRebuilding(): boolean {
    return this.environment === undefined;
  }

  /** While it is rebuilt, at the end of a batch: keeps all rows from here on; returns where that is. */
  retain(): Held {
    return this.queue.retain();
  }

  /** Goes on with a store that has everything up to what `retain` returned. */
  attach(store: HistoryStore): void {
    const { environment, held } = store;
    for (const name of TABLES) this.tables[name].use(new StoredTable(environment, name));
    const { changes } = this.rows;
    changes.from = Math.max(held.changesFrom, outboxStart(held.position, this.outboxCommands));
    this.begin(store);
  }

  private begin({ environment, held, writerData }: HistoryStore): void {
    const { outboxCommands, events } = this;
    this.environment = environment;
    const { exitDeadline, commit } = events;
    this.queue.start(held, { ...writerData, outboxCommands }, exitDeadline, commit);
  }

  /** Seq of the last command, on disk or queued. */
  get seq(): number {
    return this.held.position;
  }

  /** What is on disk. */
  get durable(): Held {
    return this.isRebuilding ? NOTHING_HELD : this.queue.durable;
  }

  protected get keptAfter(): number {
    return this.isRebuilding ? this.queue.keptAfter : 0;
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
    const from = Math.max(this.rows.changes.from, this.isRebuilding ? this.keptAfter + 1 : 0);
    return Math.min(from, this.seq + 1);
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

  /** What the last command changed for accounts; empty if it was skipped. */
  get lastChanges(): readonly ChangeRow[] {
    return this.rows.changes.last;
  }

  /** The fills of an account in the last command; empty if it was skipped. */
  lastFillsOf(account: number): PlacedRow[] {
    return this.rows.ledger.lastFillsOf(account);
  }

  /** `block` contains the command; `sealed` is the block that the command sealed. */
  onCommand(applied: Applied, block: number, sealed: SealedBlock | null): void {
    const { seq } = applied;
    if (seq <= this.held.position) {
      this.rows.onCommand(applied, block, sealed);
      return;
    }
    this.rows.attach(this.queue);
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
      if (!this.isRebuilding) await this.queue.flush();
    } finally {
      // First: the last connection that closes moves the write-ahead file into the store's, and may write.
      this.environment?.close();
      await this.queue.close();
    }
  }
}
