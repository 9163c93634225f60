/**
 * The history of a venue: everything that the engine does not keep because no rule needs it, and
 * that people ask for all the same. Comes in: applied commands, in order, those it holds already
 * included (they are passed over). Goes out: rows, newest first.
 *
 * It is derived from the log alone. It never answers for a command that is not durable, since none
 * reaches it, and a crash costs it at most what the next start applies again.
 */
import type { SealedBlock } from "../blocks/block-header.js";
import type { Applied } from "../replica.js";
import type { ChangeRow } from "./change-projection.js";
import type { Held } from "./history-environment.js";
import { HistoryReader } from "./history-reader.js";
import { HistoryRows, type HistorySurroundings } from "./history-rows.js";
import type { HistoryStore } from "./history-store.js";
import { WriteQueue } from "./write-queue.js";

export interface HistoryEvents {
  /** What is on disk moved on. */
  onDurable(held: Held): void;
  /** The store failed and will fall behind. */
  onFailure(error: Error): void;
  /** Of an `ExitDeadline`, which the writing thread sets when it fails. */
  readonly exitDeadline?: SharedArrayBuffer | undefined;
}

export class History extends HistoryReader {
  private readonly queue: WriteQueue;
  private readonly rows: HistoryRows;
  private held: Held;

  constructor(
    private readonly store: HistoryStore,
    around: HistorySurroundings,
    events: HistoryEvents,
  ) {
    super(store.tables);
    this.held = store.held;
    this.queue = new WriteQueue(
      store,
      (held) => events.onDurable(held),
      (error) => events.onFailure(error),
      events.exitDeadline,
    );
    this.rows = new HistoryRows(store.tables, this.queue, around, (market, price, lots, timeMs) => {
      // The day may be loaded now, from candles that must not hold this trade yet.
      this.day(market, timeMs).onTrade(price, lots, timeMs);
    });
  }

  /** The last command that it holds, on disk or on the way there. */
  get seq(): number {
    return this.held.position;
  }

  /** What is on disk for good. */
  get durable(): Held {
    return this.queue.durable;
  }

  get backlog(): number {
    return this.queue.backlog;
  }

  /** Whether so much waits for the disk that nothing should be added that can be refused. */
  get isBehind(): boolean {
    return this.queue.isBehind;
  }

  /** Whether a log is being replayed, and nobody waits for an order. */
  set isReplaying(isReplaying: boolean) {
    this.queue.isBulk = isReplaying;
  }

  sessionKey(session: number) {
    return this.rows.sessions.keyOf(session);
  }

  positionUpdatedAt(account: number, market: number): number {
    return this.rows.positions.updatedAt(account, market);
  }

  /** What the last command changed for accounts; none of what it passed over. */
  get lastChanges(): readonly ChangeRow[] {
    return this.rows.changes.last;
  }

  /** `block` is the one that holds the command; `sealed` the block that the command sealed. */
  onCommand(applied: Applied, block: number, sealed: SealedBlock | null): void {
    const { seq } = applied;
    if (seq <= this.held.position) return;
    this.rows.onCommand(applied, block, sealed);
    const { batch, record } = this.held;
    this.held = { position: seq, batch, record };
    this.queue.endCommand(this.held);
  }

  /** The log's place after a batch. */
  onBatchEnd(end: { readonly batch: number; readonly record: number }): void {
    if (end.batch <= this.held.batch) return;
    this.held = { position: this.held.position, batch: end.batch, record: end.record };
    this.queue.endBatch(this.held);
  }

  flush(): Promise<void> {
    return this.queue.flush();
  }

  /** Resolves once the disk is at most so many entries behind. */
  settle(atMost: number): Promise<void> {
    return this.queue.settle(atMost);
  }

  /** Writes nothing more: what is missing is made again from the log. */
  halt(): void {
    this.queue.stop();
  }

  /** Ends the writing thread at once, for a process that is about to exit. */
  abandon(): Promise<void> {
    return this.queue.abandon();
  }

  async close(): Promise<void> {
    try {
      await this.queue.flush();
    } finally {
      await this.queue.close();
      await this.store.environment.close();
    }
  }
}
