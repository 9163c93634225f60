/** What takes from the book: an order, a liquidation, or a reduction of the backstop. */
import { mulDivFloor } from "@perpgate/protocol/integers";
import { CANCEL_RESTING, LONG, type Side } from "../commands.js";
import { PPM } from "../config.js";
import { TRADE_BACKSTOP, TRADE_LIQUIDATION, TRADE_ORDER } from "../events/event-table.js";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import { FillBound } from "./fill-bound.js";

/** A taker's kind is the kind of its trades. */
export const TAKER_ORDER = TRADE_ORDER;
export const TAKER_LIQUIDATION = TRADE_LIQUIDATION;
export const TAKER_BACKSTOP = TRADE_BACKSTOP;
type TakerKind = typeof TAKER_ORDER | typeof TAKER_LIQUIDATION | typeof TAKER_BACKSTOP;

/** No budget: the taker wants lots at any cost within its limits. */
export const UNBUDGETED = -1;

export class Taker {
  kind: TakerKind = TAKER_ORDER;
  side: Side = LONG;
  /** Position row in the market; −1 for the backstop. */
  row = -1;
  account = 0;
  orderId = 0;
  reduceOnly = false;
  feePpm = 0;
  leverage = 1;
  /** The end reason of lots that would open, or none if it may open. */
  bar = 0;
  /** Its session's cap on all positions, in micros; 0: none. */
  maxNotionalMicros = 0;
  /** What ends when it meets an order of its own account. */
  selfTrade: number = CANCEL_RESTING;
  /** What its terms leave for its fills. */
  readonly bound = new FillBound();
  lotsLeft = 0;
  /** Micros left to spend, or UNBUDGETED. */
  budgetMicros = UNBUDGETED;
  /** Worst price in ticks it accepts, and the end reason when the book is worse. */
  limitTicks = 0;
  limitReason = 0;
  /** The bound of the price band, checked after the limit. */
  bandTicks = 0;

  filledLots = 0;
  filledMicros = 0;
  feeMicros = 0;
  openedLots = 0;
  /** Notional of what opened, counted where its fills are bounded. */
  openedMicros = 0;
  /** Why it stopped with lots or money left; none if it took all that it wanted. */
  stopReason = 0;

  begin(kind: TakerKind, side: Side, row: number, account: number, orderId: number): void {
    this.kind = kind;
    this.side = side;
    this.row = row;
    this.account = account;
    this.orderId = orderId;
    this.reduceOnly = false;
    this.feePpm = 0;
    this.leverage = 1;
    this.bar = END.none;
    this.maxNotionalMicros = 0;
    this.selfTrade = CANCEL_RESTING;
    this.bound.isSet = false;
    this.lotsLeft = 0;
    this.budgetMicros = UNBUDGETED;
    this.limitTicks = side > 0 ? Number.POSITIVE_INFINITY : 0;
    this.limitReason = END.none;
    this.bandTicks = this.limitTicks;
    this.filledLots = 0;
    this.filledMicros = 0;
    this.feeMicros = 0;
    this.openedLots = 0;
    this.openedMicros = 0;
    this.stopReason = END.none;
  }

  /** Whether a price is worse than a limit of this side. */
  isWorse(ticks: number, limit: number): boolean {
    return this.side > 0 ? ticks > limit : ticks < limit;
  }
}

/** The worst price, in ticks, at which an order of that side may trade. */
export function bandLimit(market: Market, side: Side): number {
  return market.mark + side * mulDivFloor(market.mark, market.config.bandPpm, PPM);
}
