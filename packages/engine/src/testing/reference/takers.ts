/**
 * The takers that are orders of an account: "PlaceOrder" (limit, market) and "Tick", step 5 (stop).
 * They share fees and fills and differ only in what they want and what stops them.
 */
import { CANCEL_RESTING, LONG, type Side } from "../../commands.js";
import { TRADE_ORDER } from "../../events/event-table.js";
import { END } from "../../reasons.js";
import { bandOf } from "./checks.js";
import { applyFill, type Booked, type Fillable, fillable, type Terms } from "./fills.js";
import { floorDiv, min } from "./integers.js";
import { closable, unitOf } from "./margin.js";
import type { Taker } from "./matching.js";
import { settle } from "./settle.js";
import { accountOf, type Extra, type Market, type Position, type State } from "./state.js";
import { countFill, within } from "./terms.js";

export interface Buying {
  readonly state: State;
  readonly market: Market;
  readonly position: Position;
  readonly orderId: number;
  readonly side: Side;
  readonly leverage: bigint;
  readonly reduceOnly: boolean;
  readonly cap: bigint;
  readonly lots: bigint;
  readonly extra: Extra | null;
}

/** An order that takes: counts what it filled. */
abstract class OrderTaker implements Taker {
  readonly kind = TRADE_ORDER;
  readonly side: Side;
  readonly account: number;
  readonly orderId: number;
  readonly selfTrade: number;
  /** Why it wants nothing more, if its terms say so. */
  unwanted: number = END.none;
  left: bigint;
  filled = 0n;
  spent = 0n;
  fees = 0n;
  /** Lots that its fills opened. */
  opened = 0n;

  constructor(protected readonly order: Buying) {
    this.side = order.side;
    this.account = order.position.account;
    this.orderId = order.orderId;
    this.selfTrade = order.extra?.selfTrade ?? CANCEL_RESTING;
    this.left = order.lots;
  }

  abstract stop(price: bigint | null): number | null;
  abstract wantAt(price: bigint): bigint;

  want(price: bigint): bigint {
    const { market, leverage, extra, reduceOnly } = this.order;
    const plain = this.wantAt(price);
    const want = reduceOnly ? min(plain, this.capacity()) : plain;
    const lotPrice = price * unitOf(market);
    const { lots, reason } = within(extra, leverage, lotPrice, this.capacity(), want);
    if (lots === 0n) this.unwanted = reason;
    return lots;
  }

  protected capacity(): bigint {
    return closable(this.order.position, this.side);
  }

  /** "beyond": worse than `limit` for this side. */
  protected beyond(price: bigint, limit: bigint): boolean {
    return this.side === LONG ? price > limit : price < limit;
  }

  protected beyondBand(price: bigint): boolean {
    const { market } = this.order;
    return this.beyond(price, market.mark + BigInt(this.side) * bandOf(market));
  }

  private terms(price: bigint): Terms {
    const feePpm = BigInt(this.order.market.config.takerFeePpm);
    const { leverage, cap } = this.order;
    return { side: this.side, price, feePpm, leverage, cap, taker: true };
  }

  fillable(lots: bigint, price: bigint): Fillable {
    const { state, market, position } = this.order;
    const account = accountOf(state, this.account);
    return fillable(state, account, market, position, this.terms(price), lots, 0n);
  }

  fill(lots: bigint, price: bigint): Booked {
    const { state, market, position, extra, leverage } = this.order;
    const lotPrice = price * unitOf(market);
    const opened = lots - min(lots, this.capacity());
    countFill(extra, leverage, lots * lotPrice, opened * lotPrice, !(this instanceof LimitTaker));
    this.opened += opened;
    const booked = applyFill(state, market, position, this.terms(price), lots);
    this.left -= lots;
    this.filled += lots;
    this.spent += lots * price * unitOf(market);
    this.fees += booked.fee;
    return booked;
  }

  settle(): void {
    settle(this.order.state, this.account, this.order.market.number);
  }
}

/** Wants its lots at its price or better; the rest is its caller's to rest. */
export class LimitTaker extends OrderTaker {
  constructor(
    order: Buying,
    private readonly price: bigint,
  ) {
    super(order);
  }

  stop(price: bigint | null): number | null {
    if (this.left === 0n) return END.none;
    if (this.order.reduceOnly && this.capacity() === 0n) return END.reduce_only;
    if (price === null || this.beyond(price, this.price)) return END.none;
    return null;
  }

  wantAt(): bigint {
    return this.left;
  }
}

/** Spends a budget within the band, and within a worst price if one was given. */
export class MarketTaker extends OrderTaker {
  constructor(
    order: Buying,
    private readonly budget: bigint,
    private readonly worst: bigint,
  ) {
    super(order);
  }

  get unspent(): bigint {
    return this.budget - this.spent;
  }

  stop(price: bigint | null): number | null {
    if (this.unspent === 0n) return END.none;
    if (this.order.reduceOnly && (this.left === 0n || this.capacity() === 0n)) return END.none;
    if (price === null) return END.book_empty;
    if (this.worst > 0n && this.beyond(price, this.worst)) return END.worst_price;
    return this.beyondBand(price) ? END.band : null;
  }

  wantAt(price: bigint): bigint {
    return this.affordable(price);
  }

  /** Lots that the unspent budget buys at a price; reduce-only: of the clamped size at most. */
  affordable(price: bigint): bigint {
    const lots = floorDiv(this.unspent, price * unitOf(this.order.market));
    return this.order.reduceOnly ? min(lots, this.left) : lots;
  }
}

/** A market order for a size: these lots, within the band and a worst price if one was given. */
export class SizedTaker extends OrderTaker {
  constructor(
    order: Buying,
    private readonly worst: bigint,
  ) {
    super(order);
  }

  stop(price: bigint | null): number | null {
    if (this.left === 0n) return END.none;
    if (this.order.reduceOnly && this.capacity() === 0n) return END.reduce_only;
    if (price === null) return END.book_empty;
    if (this.worst > 0n && this.beyond(price, this.worst)) return END.worst_price;
    return this.beyondBand(price) ? END.band : null;
  }

  wantAt(): bigint {
    return this.left;
  }
}

/** A triggered stop with a limit: its price or better, and within the band. */
export class StopLimitTaker extends LimitTaker {
  override stop(price: bigint | null): number | null {
    const stop = super.stop(price);
    if (stop !== null || price === null) return stop;
    return this.beyondBand(price) ? END.band : null;
  }
}

/** A triggered stop: its kept lots, within the band. */
export class StopTaker extends OrderTaker {
  stop(price: bigint | null): number | null {
    if (this.left === 0n) return END.none;
    if (this.order.reduceOnly && this.capacity() === 0n) return END.reduce_only;
    if (price === null) return END.book_empty;
    return this.beyondBand(price) ? END.band : null;
  }

  wantAt(): bigint {
    return this.left;
  }
}
