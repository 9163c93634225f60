/**
 * Who takes from the book: an order, a liquidation, or the backstop's reduction. One object is
 * reused for all of them, since only one takes at a time.
 */
import type { Side } from "../commands.js";
import { END } from "../reasons.js";

export const TAKER_ORDER = 0;
export const TAKER_LIQUIDATION = 1;
export const TAKER_BACKSTOP = 2;

/** No budget: the taker wants lots, whatever they cost. */
export const UNBUDGETED = -1;

export class Taker {
  kind: 0 | 1 | 2 = TAKER_ORDER;
  side: Side = 1;
  /** Position row in the market; −1 for the backstop. */
  row = -1;
  account = 0;
  orderId = 0;
  reduceOnly = false;
  feePpm = 0;
  leverage = 1;
  lotsLeft = 0;
  /** Micros left to spend, or UNBUDGETED. */
  budgetMicros = UNBUDGETED;
  /** Worst price in ticks it accepts, and what to say when the book is worse. */
  limitTicks = 0;
  limitReason = 0;
  /** A second, wider limit that is looked at after the first. */
  bandTicks = 0;

  /** What it got. */
  filledLots = 0;
  filledMicros = 0;
  feeMicros = 0;
  /** Why it stopped with lots or money left; none if it simply had no more to take. */
  stopReason = 0;

  begin(kind: 0 | 1 | 2, side: Side, row: number, account: number, orderId: number): void {
    this.kind = kind;
    this.side = side;
    this.row = row;
    this.account = account;
    this.orderId = orderId;
    this.reduceOnly = false;
    this.feePpm = 0;
    this.leverage = 1;
    this.lotsLeft = 0;
    this.budgetMicros = UNBUDGETED;
    this.limitTicks = side > 0 ? Number.POSITIVE_INFINITY : 0;
    this.limitReason = END.none;
    this.bandTicks = this.limitTicks;
    this.filledLots = 0;
    this.filledMicros = 0;
    this.feeMicros = 0;
    this.stopReason = END.none;
  }

  /** Whether a price is worse than a limit of this side. */
  isWorse(ticks: number, limit: number): boolean {
    return this.side > 0 ? ticks > limit : ticks < limit;
  }
}
