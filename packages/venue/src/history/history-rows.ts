/**
 * Turns applied commands, in order, into history rows, with one projection per kind of row. The venue
 * writes the rows; the verifier runs the same projections and compares the rows with those on disk.
 *
 * What a row builds on (open orders, positions, sessions, open candles, the edge of the block tree, watchers
 * of deposits) is in memory and in snapshots: no row is read to make another. So every replica of the log has it,
 * also one without a store, or with one that is being rebuilt.
 */
import { EVENT } from "@perpgate/engine";
import { leafAt } from "../blocks/block-builder.js";
import { encodeHeader, type SealedBlock } from "../blocks/block-header.js";
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
import { CandleProjection } from "./candle-projection.js";
import { ChangeProjection, FLAG } from "./change-projection.js";
import { DayStats } from "./day-stats.js";
import { type DepositContext, DepositProjection } from "./deposit-projection.js";
import { FillProjection } from "./fill-projection.js";
import { ROW_TABLES } from "./history-environment.js";
import { keyOf } from "./keys.js";
import { type LedgerContext, LedgerProjection } from "./ledger-projection.js";
import { OrderProjection } from "./order-projection.js";
import { PositionProjection } from "./position-projection.js";
import { ProjectedReader, ProjectedWriter, sortedEntries } from "./projected-state.js";
import { ResultProjection } from "./result-projection.js";
import { RowOutlet, type TakenTables } from "./row-outlet.js";
import type { RowSink } from "./rows.js";
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

/**
 * The format of what the projections keep, in snapshots. Another number: snapshots are not used any more, and the
 * next start replays the whole log. The store's own format does not matter here.
 */
export const PROJECTION_FORMAT = 15;

export class HistoryRows {
  readonly changes: ChangeProjection;
  readonly positions: PositionProjection;
  readonly sessions: SessionProjection;
  readonly orders: OrderProjection;
  readonly deposits: DepositProjection;
  private readonly results: ResultProjection;
  private readonly tree: TreeProjection;
  private readonly fills: FillProjection;
  readonly ledger: LedgerProjection;
  private readonly candles: CandleProjection;
  private readonly withdrawals: WithdrawalProjection;
  /** By market. */
  private readonly days = new Map<number, DayStats>();
  private readonly sink = new RowOutlet();

  constructor(private readonly context: HistoryContext) {
    const { sink } = this;
    this.changes = new ChangeProjection(sink, (account, words, at) =>
      context.writeMoney(account, words, at),
    );
    const { changes } = this;
    this.orders = new OrderProjection(sink, changes);
    this.ledger = new LedgerProjection(sink, changes, context);
    this.fills = new FillProjection(this.ledger, sink);
    this.candles = new CandleProjection(sink);
    this.positions = new PositionProjection(sink, changes, (market) => context.markTicks(market));
    this.sessions = new SessionProjection(sink);
    this.results = new ResultProjection(sink);
    this.tree = new TreeProjection(sink);
    this.deposits = new DepositProjection(sink, changes, context);
    this.withdrawals = new WithdrawalProjection(sink, changes);
  }

  /**
   * Where the rows of the next commands go; undefined: nowhere, only what later rows build on is kept.
   * For a sink that takes no fills, no ledger and no changes are made either.
   */
  attach(sink: RowSink | undefined, taken?: TakenTables): void {
    this.sink.attach(sink, taken);
  }

  /** The last 24 hours of a market. */
  day(market: number): DayStats {
    let day = this.days.get(market);
    if (day === undefined) {
      day = new DayStats();
      this.days.set(market, day);
    }
    return day;
  }

  /** What later rows build on, in `PROJECTION_FORMAT`; the same log gives the same bytes. */
  save(): Buffer {
    const writer = new ProjectedWriter();
    for (const part of this.kept) part.save(writer);
    writer.each(sortedEntries(this.days), ([market, day]) => {
      writer.words([market]);
      day.save(writer);
    });
    return writer.end();
  }

  load(bytes: Buffer): void {
    const reader = new ProjectedReader(bytes);
    for (const part of this.kept) part.load(reader);
    reader.each(() => {
      const [market = 0] = reader.words();
      this.day(market).load(reader);
    });
  }

  private get kept() {
    const { orders, positions, sessions, candles, tree, deposits, withdrawals } = this;
    return [orders, positions, sessions, candles, tree, deposits, withdrawals];
  }

  /** `block` contains the command; `sealed` is the block that the command sealed. */
  onCommand(applied: Applied, block: number, sealed: SealedBlock | null): void {
    const { seq, timeMs, events } = applied;
    const { words, length } = events;
    const { isOn, isWhole } = this.sink;
    this.changes.beginCommand(seq, isWhole);
    if (length > 0) this.sessions.onCommand(applied, words[0]!);
    if (isOn) this.onOwnRows(applied);
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
        if (isOn) {
          this.onAcknowledged(applied, words, at);
        }
        this.changes.flag(words[at + ACKNOWLEDGED.account]!, FLAG.ACK);
      } else if (
        kind === EVENT.CancelAcknowledged ||
        kind === EVENT.WithdrawalAcknowledged ||
        kind === EVENT.ReservesCommitted
      ) {
        if (isOn) this.onAcknowledged(applied, words, at);
      } else if (kind === EVENT.FundingApplied) {
        if (isOn) this.onFunding(words, at);
      } else if (kind === EVENT.SessionClosed) {
        this.sessions.onClosed(words, at);
      } else {
        this.deposits.onEvent(applied, kind, words, at);
        this.withdrawals.onEvent(applied, kind, words, at);
        if (isWhole) this.ledger.onEvent(kind, words, at, before);
      }
      this.orders.onEvent(kind, words, at);
    }
    this.orders.endCommand(timeMs);
    this.ledger.endCommand(seq, timeMs);
    this.changes.endCommand(seq);
    if (sealed !== null) {
      const header = encodeHeader(sealed);
      this.sink.put(ROW_TABLES.blocks, keyOf(sealed.number), header);
      this.tree.onSealed(sealed.number, header);
    }
  }

  /** Rows that no other row builds on. */
  private onOwnRows(applied: Applied): void {
    if (applied.events.length > 0) this.results.onCommand(applied);
    this.deposits.onVote(applied);
    this.withdrawals.onVote(applied);
    if (applied.command.kind === "Genesis" || applied.command.kind === "Configure") {
      this.onListing(applied);
    }
  }

  private onAcknowledged({ seq, timeMs, evidence }: Applied, words: Float64Array, at: number) {
    this.sink.putAck(seq, leafAt(words, at), evidence.signed, timeMs);
  }

  /** Symbols and units, for readers of the file. */
  private onListing({ evidence, events }: Applied): void {
    if (evidence.signed.length === 0 || refusalIn(events) !== "") return;
    const { markets } = decodeListing(Buffer.from(evidence.signed).toString("utf8"));
    for (const { number, symbol, tickSize, lotSize } of markets) {
      const row = Buffer.from(JSON.stringify({ symbol, tickSize, lotSize }));
      this.sink.put(ROW_TABLES.markets, keyOf(number), row);
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
    this.day(market).onTrade(price, lots, timeMs);
    this.candles.onTrade(market, price, lots, timeMs);
  }

  private onFunding(words: Float64Array, at: number): void {
    const row = [words[at + FUNDED.rate]!, words[at + FUNDED.markTicks]!];
    const hourEndMs = words[at + FUNDED.hourEndMs]!;
    this.sink.putWords(ROW_TABLES.funding, words[at + FUNDED.market]!, hourEndMs, 0, row);
  }
}
