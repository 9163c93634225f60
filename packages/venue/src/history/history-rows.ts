/**
 * Turns applied commands, in order, into history rows, with one projection per kind of row. The venue
 * writes the rows; the verifier runs the same projections and compares the rows with those on disk.
 */
import { EVENT } from "@perpgate/engine";
import { leafAt } from "../blocks/block-builder.js";
import { encodeHeader, type SealedBlock } from "../blocks/block-header.js";
import { sha256 } from "../blocks/merkle.js";
import {
  ACKNOWLEDGED,
  eventWords,
  FUNDED,
  INDEXED,
  MARKED,
  refusalIn,
  TRADED,
} from "../event-fields.js";
import { decodeListing } from "../listing/listing.js";
import type { Applied } from "../replica.js";
import { encodeAck } from "./ack-row.js";
import { CandleProjection } from "./candle-projection.js";
import { ChangeProjection, FLAG } from "./change-projection.js";
import { type DepositContext, DepositProjection } from "./deposit-projection.js";
import { FillProjection } from "./fill-projection.js";
import type { TableName } from "./history-environment.js";
import { keyOf } from "./keys.js";
import { type LedgerContext, LedgerProjection } from "./ledger-projection.js";
import { OrderProjection } from "./order-projection.js";
import { PositionProjection } from "./position-projection.js";
import { ResultProjection } from "./result-projection.js";
import type { RowSink, RowTable } from "./rows.js";
import { SessionProjection } from "./session-projection.js";
import { TreeProjection } from "./tree-projection.js";
import { WithdrawalProjection } from "./withdrawal-projection.js";

/** What the projections read from the engine, in its state right after the command. */
export interface HistoryContext extends DepositContext, LedgerContext {
  /** Micros that a lot is worth per tick. */
  unitMicros(market: number): number;
  markTicks(market: number): number;
  /** Writes an account's wallet, reserves, margins and equity, with accrued funding paid. */
  writeMoney(account: number, words: Float64Array, at: number): void;
}

/** Called for each public trade, before it is added to the candles. */
export type OnPublicTrade = (
  market: number,
  priceTicks: number,
  lots: number,
  timeMs: number,
) => void;

export class HistoryRows {
  readonly changes: ChangeProjection;
  readonly positions: PositionProjection;
  readonly sessions: SessionProjection;
  private readonly results: ResultProjection;
  private readonly tree: TreeProjection;
  private readonly orders: OrderProjection;
  private readonly fills: FillProjection;
  private readonly ledger: LedgerProjection;
  private readonly candles: CandleProjection;
  private readonly deposits: DepositProjection;
  private readonly withdrawals: WithdrawalProjection;

  constructor(
    private readonly tables: Readonly<Record<TableName, RowTable>>,
    private readonly sink: RowSink,
    private readonly context: HistoryContext,
    private readonly onPublicTrade: OnPublicTrade = () => undefined,
  ) {
    this.changes = new ChangeProjection(tables.changes, sink, (account, words, at) =>
      context.writeMoney(account, words, at),
    );
    const { changes } = this;
    const { nonces, clientIds } = tables;
    this.orders = new OrderProjection(tables.orders, nonces, clientIds, sink, changes);
    this.ledger = new LedgerProjection(tables, sink, changes, context);
    this.fills = new FillProjection(this.ledger, tables.trades, sink);
    this.candles = new CandleProjection(tables.candles, sink);
    this.positions = new PositionProjection(tables.positions, sink, changes, (market) =>
      context.markTicks(market),
    );
    this.sessions = new SessionProjection(tables.sessions, sink);
    this.results = new ResultProjection(tables.results, sink);
    this.tree = new TreeProjection(tables.tree, sink);
    this.deposits = new DepositProjection(tables, sink, changes, context);
    this.withdrawals = new WithdrawalProjection(tables, sink, changes);
  }

  /** `block` contains the command; `sealed` is the block that the command sealed. */
  onCommand(applied: Applied, block: number, sealed: SealedBlock | null): void {
    const { seq, timeMs, events } = applied;
    const { words, length } = events;
    if (length > 0) {
      this.sessions.onCommand(applied, words[0]!);
      this.results.onCommand(applied);
    }
    this.deposits.onVote(applied);
    this.withdrawals.onVote(applied);
    if (applied.command.kind === "Genesis" || applied.command.kind === "Configure") {
      this.onListing(applied);
    }
    let trades = 0;
    let previous = 0;
    for (let at = 0; at < length; at += eventWords(words[at]!)) {
      const kind = words[at]!;
      const before = previous;
      previous = at;
      if (kind === EVENT.IndexUpdated) {
        this.onIndex(words, at, timeMs);
        continue;
      } else if (kind === EVENT.MarkChanged) {
        const market = words[at + MARKED.market]!;
        this.candles.onPrice(market, "mark", words[at + MARKED.markTicks]!, timeMs);
        continue;
      } else if (kind === EVENT.Traded) {
        const unit = this.context.unitMicros(words[at + TRADED.market]!);
        this.orders.onTraded(words, at, unit);
        this.fills.onTraded(words, at, seq, trades++, block, timeMs, this.orders);
        this.onTraded(words, at, timeMs);
        continue;
      } else if (kind === EVENT.PositionSettled) {
        this.positions.onSettled(words, at, timeMs);
        continue;
      } else if (kind === EVENT.OrderAcknowledged) {
        const digest = sha256(applied.evidence.signed);
        this.sink.put(this.tables.acks, keyOf(seq), encodeAck(leafAt(words, at), digest, timeMs));
        this.changes.flag(words[at + ACKNOWLEDGED.account]!, FLAG.ACK);
      } else if (kind === EVENT.FundingApplied) {
        this.onFunding(words, at);
      } else if (kind === EVENT.SessionClosed) {
        this.sessions.onClosed(words, at);
      } else {
        this.deposits.onEvent(applied, kind, words, at);
        this.withdrawals.onEvent(applied, kind, words, at);
        this.ledger.onEvent(kind, words, at, before);
      }
      this.orders.onEvent(kind, words, at);
    }
    this.orders.endCommand(timeMs);
    this.ledger.endCommand(seq, timeMs);
    this.changes.endCommand(seq);
    if (sealed !== null) {
      const header = encodeHeader(sealed);
      this.sink.put(this.tables.blocks, keyOf(sealed.number), header);
      this.tree.onSealed(sealed.number, header);
    }
  }

  /** Symbols and units, for readers of the file. */
  private onListing({ evidence, events }: Applied): void {
    if (evidence.signed.length === 0 || refusalIn(events) !== "") return;
    const { markets } = decodeListing(Buffer.from(evidence.signed).toString("utf8"));
    for (const { number, symbol, tickSize, lotSize } of markets) {
      const row = Buffer.from(JSON.stringify({ symbol, tickSize, lotSize }));
      this.sink.put(this.tables.markets, keyOf(number), row);
    }
  }

  /** An accepted index; one that the guard holds back changes neither price. */
  private onIndex(words: Float64Array, at: number, timeMs: number): void {
    const market = words[at + INDEXED.market]!;
    this.candles.onPrice(market, "index", words[at + INDEXED.indexTicks]!, timeMs);
    this.candles.onPrice(market, "mark", words[at + INDEXED.markTicks]!, timeMs);
  }

  private onTraded(words: Float64Array, at: number, timeMs: number): void {
    if (words[at + TRADED.makerOrderId] === 0) return;
    const market = words[at + TRADED.market]!;
    const price = words[at + TRADED.priceTicks]!;
    const lots = words[at + TRADED.lots]!;
    this.onPublicTrade(market, price, lots, timeMs);
    this.candles.onTrade(market, price, lots, timeMs);
  }

  private onFunding(words: Float64Array, at: number): void {
    const row = [words[at + FUNDED.rate]!, words[at + FUNDED.markTicks]!];
    const hourEndMs = words[at + FUNDED.hourEndMs]!;
    this.sink.putWords(this.tables.funding, words[at + FUNDED.market]!, hourEndMs, 0, row);
  }
}
