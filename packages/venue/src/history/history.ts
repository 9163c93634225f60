/**
 * The history of a venue: everything that the engine does not keep because no rule needs it, and
 * that people ask for all the same. Comes in: applied commands, in order, those it holds already
 * included (they are passed over). Goes out: rows, newest first.
 *
 * It is derived from the log alone. It never answers for a command that is not durable, since none
 * reaches it, and a crash costs it at most what the next start applies again.
 */
import { EVENT } from "@perpgate/engine";
import { leafAt } from "../blocks/block-builder.js";
import { encodeHeader, type SealedBlock } from "../blocks/block-header.js";
import { sha256 } from "../blocks/merkle.js";
import { ACKNOWLEDGED, eventWords, FUNDED, TRADED } from "../events/event-fields.js";
import type { Applied } from "../replica.js";
import { CandleProjection } from "./candle-projection.js";
import { ChangeProjection, type ChangeRow } from "./change-projection.js";
import { DepositProjection, type DepositSurroundings } from "./deposit-projection.js";
import { FillProjection } from "./fill-projection.js";
import type { Held } from "./history-environment.js";
import { HistoryReader } from "./history-reader.js";
import type { HistoryStore } from "./history-store.js";
import { keyOf } from "./keys.js";
import { OrderProjection } from "./order-projection.js";
import { PositionProjection } from "./position-projection.js";
import { SessionProjection } from "./session-projection.js";
import { WriteQueue } from "./write-queue.js";

/** What rows need of the engine, as it stands right after the command. */
export interface HistorySurroundings extends DepositSurroundings {
  /** Micros that a lot is worth per tick. */
  unitMicros(market: number): number;
  markTicks(market: number): number;
}

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
  private readonly changeRows: ChangeProjection;
  private readonly orderRows: OrderProjection;
  private readonly fillRows: FillProjection;
  private readonly candleRows: CandleProjection;
  private readonly positionRows: PositionProjection;
  private readonly sessionRows: SessionProjection;
  private readonly depositRows: DepositProjection;
  private held: Held;

  constructor(
    private readonly store: HistoryStore,
    private readonly around: HistorySurroundings,
    events: HistoryEvents,
  ) {
    super(store.tables);
    const { tables } = store;
    this.held = store.held;
    this.queue = new WriteQueue(
      store,
      (held) => events.onDurable(held),
      (error) => events.onFailure(error),
      events.exitDeadline,
    );
    this.changeRows = new ChangeProjection(tables.changes, this.queue);
    const { queue, changeRows } = this;
    this.orderRows = new OrderProjection(tables.orders, tables.nonces, queue, changeRows);
    this.fillRows = new FillProjection(tables.fills, tables.trades, this.queue);
    this.candleRows = new CandleProjection(tables.candles, this.queue);
    this.positionRows = new PositionProjection(tables.positions, queue, changeRows, (market) =>
      around.markTicks(market),
    );
    this.sessionRows = new SessionProjection(tables.sessions, this.queue);
    this.depositRows = new DepositProjection(tables, queue, changeRows, around);
  }

  /** The last command that it holds, on disk or on the way there. */
  get position(): number {
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
    return this.sessionRows.keyOf(session);
  }

  positionUpdatedAt(account: number, market: number): number {
    return this.positionRows.updatedAt(account, market);
  }

  /** What the last command changed for accounts; none of what it passed over. */
  get lastChanges(): readonly ChangeRow[] {
    return this.changeRows.last;
  }

  /** `block` is the one that holds the command; `sealed` the block that the command sealed. */
  onCommand(applied: Applied, block: number, sealed: SealedBlock | null): void {
    const { position, timeMs, events } = applied;
    if (position <= this.held.position) return;
    const { words, length } = events;
    if (length > 0) this.sessionRows.onCommand(applied, words[0]!);
    this.depositRows.onVote(applied);
    let trades = 0;
    for (let at = 0; at < length; at += eventWords(words[at]!)) {
      const kind = words[at]!;
      let unit = 0;
      if (kind === EVENT.Traded) {
        unit = this.around.unitMicros(words[at + TRADED.market]!);
        this.fillRows.onTraded(words, at, position, trades++, block, timeMs);
        this.onTape(words, at, timeMs);
      } else if (kind === EVENT.PositionSettled) {
        this.positionRows.onSettled(words, at, timeMs);
        continue;
      } else if (kind === EVENT.OrderAcknowledged) {
        const leaf = Buffer.concat([leafAt(words, at), sha256(applied.evidence.signed)]);
        this.queue.put(this.store.tables.acks, keyOf(position), leaf);
        this.changeRows.onAcknowledged(words[at + ACKNOWLEDGED.account]!);
      } else if (kind === EVENT.FundingApplied) {
        this.onFunding(words, at);
      } else if (kind === EVENT.SessionClosed) {
        this.sessionRows.onClosed(words, at);
      } else {
        this.depositRows.onEvent(applied, kind, words, at);
      }
      this.orderRows.onEvent(kind, words, at, unit);
    }
    this.orderRows.endCommand(timeMs);
    this.changeRows.endCommand(position);
    if (sealed !== null) {
      this.queue.put(this.store.tables.blocks, keyOf(sealed.number), encodeHeader(sealed));
    }
    const { batch, record } = this.held;
    this.held = { position, batch, record };
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

  private onTape(words: Float64Array, at: number, timeMs: number): void {
    if (words[at + TRADED.makerOrderId] === 0) return;
    const market = words[at + TRADED.market]!;
    const price = words[at + TRADED.priceTicks]!;
    const lots = words[at + TRADED.lots]!;
    // The day first: it may be loaded now, from candles that must not hold this trade yet.
    this.day(market, timeMs).onTrade(price, lots, timeMs);
    this.candleRows.onTrade(market, price, lots, timeMs);
  }

  private onFunding(words: Float64Array, at: number): void {
    const row = [words[at + FUNDED.rate]!, words[at + FUNDED.markTicks]!];
    const { funding } = this.store.tables;
    const hourEndMs = words[at + FUNDED.hourEndMs]!;
    this.queue.putWords(funding, words[at + FUNDED.market]!, hourEndMs, 0, row);
  }
}
