/**
 * All rows that a command leaves, one projection for each kind. Comes in: applied commands, in order.
 * Goes out: rows, to the sink. The venue and the verifier run the same projections; what the verifier
 * checks is that the disk holds what they make of the log.
 */
import { EVENT } from "@perpgate/engine";
import { leafAt } from "../blocks/block-builder.js";
import { encodeHeader, type SealedBlock } from "../blocks/block-header.js";
import { sha256 } from "../blocks/merkle.js";
import { ACKNOWLEDGED, eventWords, FUNDED, TRADED } from "../events/event-fields.js";
import type { Applied } from "../replica.js";
import { CandleProjection } from "./candle-projection.js";
import { ChangeProjection } from "./change-projection.js";
import { DepositProjection, type DepositSurroundings } from "./deposit-projection.js";
import { FillProjection } from "./fill-projection.js";
import type { TableName } from "./history-environment.js";
import { keyOf } from "./keys.js";
import { OrderProjection } from "./order-projection.js";
import { PositionProjection } from "./position-projection.js";
import type { RowSink, RowTable } from "./rows.js";
import { SessionProjection } from "./session-projection.js";

/** What rows need of the engine, as it stands right after the command. */
export interface HistorySurroundings extends DepositSurroundings {
  /** Micros that a lot is worth per tick. */
  unitMicros(market: number): number;
  markTicks(market: number): number;
}

/** Called for each trade of the public tape, before its candles hold it. */
export type OnTape = (market: number, priceTicks: number, lots: number, timeMs: number) => void;

export class HistoryRows {
  readonly changes: ChangeProjection;
  readonly positions: PositionProjection;
  readonly sessions: SessionProjection;
  private readonly orders: OrderProjection;
  private readonly fills: FillProjection;
  private readonly candles: CandleProjection;
  private readonly deposits: DepositProjection;

  constructor(
    private readonly tables: Readonly<Record<TableName, RowTable>>,
    private readonly sink: RowSink,
    private readonly around: HistorySurroundings,
    private readonly onTape: OnTape = () => undefined,
  ) {
    this.changes = new ChangeProjection(tables.changes, sink);
    const { changes } = this;
    this.orders = new OrderProjection(tables.orders, tables.nonces, sink, changes);
    this.fills = new FillProjection(tables.fills, tables.trades, sink);
    this.candles = new CandleProjection(tables.candles, sink);
    this.positions = new PositionProjection(tables.positions, sink, changes, (market) =>
      around.markTicks(market),
    );
    this.sessions = new SessionProjection(tables.sessions, sink);
    this.deposits = new DepositProjection(tables, sink, changes, around);
  }

  /** `block` is the one that holds the command; `sealed` the block that the command sealed. */
  onCommand(applied: Applied, block: number, sealed: SealedBlock | null): void {
    const { seq, timeMs, events } = applied;
    const { words, length } = events;
    if (length > 0) this.sessions.onCommand(applied, words[0]!);
    this.deposits.onVote(applied);
    let trades = 0;
    for (let at = 0; at < length; at += eventWords(words[at]!)) {
      const kind = words[at]!;
      let unit = 0;
      if (kind === EVENT.Traded) {
        unit = this.around.unitMicros(words[at + TRADED.market]!);
        this.fills.onTraded(words, at, seq, trades++, block, timeMs);
        this.onTraded(words, at, timeMs);
      } else if (kind === EVENT.PositionSettled) {
        this.positions.onSettled(words, at, timeMs);
        continue;
      } else if (kind === EVENT.OrderAcknowledged) {
        const leaf = Buffer.concat([leafAt(words, at), sha256(applied.evidence.signed)]);
        this.sink.put(this.tables.acks, keyOf(seq), leaf);
        this.changes.onAcknowledged(words[at + ACKNOWLEDGED.account]!);
      } else if (kind === EVENT.FundingApplied) {
        this.onFunding(words, at);
      } else if (kind === EVENT.SessionClosed) {
        this.sessions.onClosed(words, at);
      } else {
        this.deposits.onEvent(applied, kind, words, at);
      }
      this.orders.onEvent(kind, words, at, unit);
    }
    this.orders.endCommand(timeMs);
    this.changes.endCommand(seq);
    if (sealed !== null) {
      this.sink.put(this.tables.blocks, keyOf(sealed.number), encodeHeader(sealed));
    }
  }

  private onTraded(words: Float64Array, at: number, timeMs: number): void {
    if (words[at + TRADED.makerOrderId] === 0) return;
    const market = words[at + TRADED.market]!;
    const price = words[at + TRADED.priceTicks]!;
    const lots = words[at + TRADED.lots]!;
    this.onTape(market, price, lots, timeMs);
    this.candles.onTrade(market, price, lots, timeMs);
  }

  private onFunding(words: Float64Array, at: number): void {
    const row = [words[at + FUNDED.rate]!, words[at + FUNDED.markTicks]!];
    const hourEndMs = words[at + FUNDED.hourEndMs]!;
    this.sink.putWords(this.tables.funding, words[at + FUNDED.market]!, hourEndMs, 0, row);
  }
}
