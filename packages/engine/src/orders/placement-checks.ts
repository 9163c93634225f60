/**
 * May this order be placed? A chain of early returns in the order of docs/engine.md, each refusing
 * with the rule it guards. No state changes here; the results are left in `scratch.placement`.
 */
import { divFloor, mulDivFloor } from "@perpgate/protocol/integers";
import {
  GOOD_TILL_CANCELED,
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  type PlaceOrder,
  STOP_ORDER,
  TAKE_PROFIT_TRIGGER,
} from "../commands.js";
import {
  LEVELS_PER_CHECK,
  MAX_ORDER_NOTIONAL_MICROS,
  MICROS_PER_PLACE,
  PPM,
  PRICE_RANGE_FACTOR,
} from "../config.js";
import { closable, equityOf } from "../money/fill.js";
import { leverageLimit } from "../money/leverage-limit.js";
import { positionLimitLots, restingBar } from "../money/opening.js";
import { END, REFUSAL } from "../reasons.js";
import { mayTrade, refuse } from "../refuse.js";
import type { Placement } from "../scratch.js";
import { MARKET_HALTED, type Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { Session } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";
import { exitCount, hasValidExits, mayExit } from "./placement-exits.js";
import { mayAfford, openingNow, openingResting } from "./placement-funds.js";
import { mayClosePosition, mayLimit } from "./placement-stops.js";
import { hasValidTerms, mayHaveTerms } from "./placement-terms.js";

export function mayPlace(
  s: VenueState,
  session: Session,
  market: Market,
  order: PlaceOrder,
): boolean {
  if (market.halted) {
    const isHalted = market.status === MARKET_HALTED;
    return refuse(s, isHalted ? REFUSAL.market_halted : REFUSAL.market_settled);
  }
  if (session.markets !== null && !session.markets.has(order.market)) {
    return refuse(s, REFUSAL.session_symbol_not_allowed);
  }
  const { extras } = order;
  if (!isWellFormed(order) || !hasValidExits(s, order)) return refuse(s, REFUSAL.invalid_order);
  const maxLeverage = market.config.tiers[0]!.maxLeverage;
  if (order.leverage > maxLeverage) return refuse(s, REFUSAL.leverage_above_maximum, maxLeverage);
  const notional = order.marginMicros * order.leverage;
  if (notional > MAX_ORDER_NOTIONAL_MICROS) return refuse(s, REFUSAL.notional_limit);
  if (order.type !== MARKET_ORDER && order.priceTicks === 0) {
    return refuse(s, REFUSAL.price_required);
  }
  if (order.postOnly && order.type !== LIMIT_ORDER) return refuse(s, REFUSAL.post_only_needs_limit);
  if (extras !== undefined && !mayHaveTerms(s, session.account, extras)) return false;
  if (market.index === 0) return refuse(s, REFUSAL.stale_index);
  if (!mayTrade(s, market)) return false;
  const { placement } = s.scratch;
  placement.notionalMicros = notional;
  placement.sizeLots = extras === undefined ? 0 : extras.sizeLots;
  placement.isImmediate = isImmediate(order);
  placement.bandTicks = mulDivFloor(market.mark, market.config.bandPpm, PPM);
  return (
    mayPrice(s, market, order, placement) &&
    mayExit(s, market, order) &&
    maySize(s, session, market, order, placement)
  );
}

function isImmediate({ type, extras }: PlaceOrder): boolean {
  if (type !== LIMIT_ORDER) return type === MARKET_ORDER;
  return extras !== undefined && extras.timeInForce !== GOOD_TILL_CANCELED;
}

function isWellFormed(order: PlaceOrder): boolean {
  const { extras } = order;
  const isUnsized = extras === undefined || (extras.sizeLots === 0 && !extras.closePosition);
  const leastMargin = isUnsized ? 1 : 0;
  return (
    Number.isSafeInteger(order.marginMicros) &&
    order.marginMicros >= leastMargin &&
    Number.isSafeInteger(order.leverage) &&
    order.leverage >= 1 &&
    Number.isSafeInteger(order.priceTicks) &&
    order.priceTicks >= 0 &&
    Number.isSafeInteger(order.nonce) &&
    order.nonce >= 0 &&
    (extras === undefined || hasValidTerms(order, extras))
  );
}

/** The terms of an order that its price is judged by. */
export type PricedOrder = Pick<PlaceOrder, "side" | "type" | "priceTicks"> & {
  readonly extras?: {
    readonly trigger: number;
    readonly limitTicks: number;
    /** Whether it is an exit that covers nothing: no mark reaches it. */
    readonly isIdle?: boolean;
  };
};

export function mayPrice(
  s: VenueState,
  market: Market,
  order: PricedOrder,
  placement: Placement,
): boolean {
  const { mark } = market;
  const price = order.priceTicks;
  const isLong = order.side === LONG;
  if (order.type === LIMIT_ORDER) {
    const band = placement.bandTicks;
    if (isLong ? price > mark + band : price < mark - band) {
      return refuse(s, REFUSAL.price_outside_band, mark, band);
    }
  }
  if (order.type === MARKET_ORDER) return true;
  if (price * PRICE_RANGE_FACTOR < mark || price > mark * PRICE_RANGE_FACTOR) {
    return refuse(s, REFUSAL.price_too_far, mark);
  }
  if (order.type === LIMIT_ORDER) return true;
  const isTakeProfit = order.extras?.trigger === TAKE_PROFIT_TRIGGER;
  const isReached = isLong === isTakeProfit ? mark <= price : mark >= price;
  if (isReached && order.extras?.isIdle !== true) {
    return refuse(s, REFUSAL.stop_would_trigger, mark);
  }
  return order.extras === undefined || mayLimit(s, market, price, order.extras.limitTicks);
}

function maySize(
  s: VenueState,
  session: Session,
  market: Market,
  order: PlaceOrder,
  placement: Placement,
): boolean {
  const row = market.positions.rowOf(session.account);
  const closes = row === NONE ? 0 : closable(market, row, order.side);
  if (order.extras?.closePosition === true) {
    placement.lots = 0;
    placement.closableLots = closes;
    placement.orderCapMicros = 0;
    return (
      mayClosePosition(s, market, order, row) &&
      mayAddOrder(s, session, market, order, row, placement)
    );
  }
  if (order.reduceOnly && closes === 0) return refuse(s, REFUSAL.reduce_only_without_position);
  const { sizeLots } = placement;
  const unit = referenceTicks(market, order) * market.microsPerTickLot;
  let lots = sizeLots > 0 ? sizeLots : divFloor(placement.notionalMicros, unit);
  if (order.reduceOnly) lots = Math.min(lots, closes);
  if (lots < 1) return refuse(s, REFUSAL.size_below_lot);
  if (sizeLots > 0) {
    placement.notionalMicros = lots * unit;
    if (lots * unit > MAX_ORDER_NOTIONAL_MICROS) return refuse(s, REFUSAL.notional_limit);
  }
  const { notionalMicros } = placement;
  placement.lots = lots;
  placement.closableLots = closes;
  const { minNotionalMicros } = market.config;
  // Where money fixes the lots of a market order, an exit may come to more than it holds at a low bid.
  const isExit = lots <= closes || (order.type === MARKET_ORDER && closes > 0 && sizeLots === 0);
  if (notionalMicros < minNotionalMicros && !isExit) {
    return refuse(s, REFUSAL.notional_too_small, minNotionalMicros);
  }
  if (order.postOnly && !mayPost(s, market, order)) return false;
  const cap = session.maxOrderNotionalMicros;
  // A market order spends all its money; the lots of others are fixed. Exits are not capped.
  const whole = order.type === MARKET_ORDER && !order.reduceOnly ? notionalMicros : lots * unit;
  if (cap > 0 && lots > closes && whole > cap)
    return refuse(s, REFUSAL.session_order_cap_exceeded, cap);
  placement.orderCapMicros = capOnFills(cap, sizeLots > 0, order.reduceOnly, whole);
  return (
    mayOpen(s, session, market, order, row, unit, placement) &&
    mayAddOrder(s, session, market, order, row, placement) &&
    mayAfford(s, session, market, order, row, unit, placement)
  );
}

/**
 * The cap on the sum of an order's fills; 0: none. Without a size, only an exit of more than the cap
 * needs it: it may open once the position is gone.
 */
export function capOnFills(
  capMicros: number,
  isSized: boolean,
  reduceOnly: boolean,
  wholeMicros: number,
): number {
  return isSized || (!reduceOnly && wholeMicros > capMicros) ? capMicros : 0;
}

/** Whether a post-only order would rest. */
export function mayPost(s: VenueState, market: Market, order: PricedOrder): boolean {
  const opposite = market.opposite(order.side);
  if (opposite.count === 0) return true;
  const best = opposite.bestTicks();
  const crosses = order.side === LONG ? order.priceTicks >= best : order.priceTicks <= best;
  return !crosses || refuse(s, REFUSAL.post_only_would_cross, best);
}

/** The price that turns money into lots. */
export function referenceTicks(market: Market, order: PricedOrder): number {
  if (order.type === STOP_ORDER) return order.priceTicks;
  const opposite = market.opposite(order.side);
  if (order.type === LIMIT_ORDER) {
    // A crossing short sells at the bids; sized at its own lower price it would open too much.
    return order.side === LONG || opposite.count === 0
      ? order.priceTicks
      : Math.max(order.priceTicks, opposite.bestTicks());
  }
  return opposite.count > 0 ? opposite.bestTicks() : market.mark;
}

/** Judges the lots that open; of an order with a closing part, only what would rest or wait. */
function mayOpen(
  s: VenueState,
  session: Session,
  market: Market,
  order: PlaceOrder,
  row: number,
  unit: number,
  placement: Placement,
): boolean {
  const { lots, closableLots: closes } = placement;
  let opening = lots - closes;
  let held = 0;
  if (closes === 0) {
    held = row === NONE ? 0 : Math.abs(market.positions.lots(row));
  } else if (placement.isImmediate) {
    // All of it fills immediately or not at all, and each fill is judged.
    return true;
  } else if (order.type === LIMIT_ORDER && !order.reduceOnly) {
    opening = openingOfLimit(market, order, row, placement);
  }
  if (opening <= 0) return true;
  const { account, maxNotionalMicros } = session;
  const { leverage } = order;
  const added = opening * unit;
  const bar = restingBar(s, market, account, leverage, held, opening, added, maxNotionalMicros);
  return bar === END.none || refuseBar(s, market, bar, held + opening, maxNotionalMicros);
}

/** Refuses what `restingBar` bars from a position of that many lots. */
export function refuseBar(
  s: VenueState,
  market: Market,
  bar: number,
  lots: number,
  maxNotionalMicros: number,
): boolean {
  if (bar === END.position_limit) {
    return refuse(s, REFUSAL.position_limit, positionLimitLots(market));
  }
  if (bar === END.leverage_above_tier) {
    const tier = market.maintenance.tierOf(lots * market.markUnit);
    return refuse(s, REFUSAL.leverage_above_tier, tier.maxLeverage);
  }
  if (bar === END.leverage_limited) {
    return refuse(s, REFUSAL.leverage_limited, leverageLimit(s, market));
  }
  if (bar === END.session_notional_cap_exceeded) {
    return refuse(s, REFUSAL.session_notional_cap_exceeded, maxNotionalMicros);
  }
  if (bar === END.market_reduce_only) return refuse(s, REFUSAL.market_reduce_only);
  if (bar === END.deposit_reorged) return refuse(s, REFUSAL.deposit_reorged);
  return refuse(s, bar === END.stale_index ? REFUSAL.stale_index : REFUSAL.not_in_cohort);
}

/**
 * The opening lots of a limit order with a closing part; 0 if none of them would rest. Lots that the
 * book shows within its price are taken to fill immediately: they close the position first, whatever
 * other orders cover. What rests closes with the capacity that the orders before it have left.
 */
function openingOfLimit(
  market: Market,
  order: PlaceOrder,
  row: number,
  placement: Placement,
): number {
  const { lots } = placement;
  placement.freeLots = placement.closableLots - market.positions.covered(row);
  placement.lotsNow = lots <= placement.freeLots ? 0 : lotsWithin(market, order, lots);
  const resting = openingResting(placement, lots);
  return resting === 0 ? 0 : openingNow(placement, lots) + resting;
}

/** Lots, up to `lots`, of the levels within the order's price, as far as one command can take. */
export function lotsWithin(market: Market, order: PricedOrder, lots: number): number {
  const opposite = market.opposite(order.side);
  const levels = Math.min(opposite.count, LEVELS_PER_CHECK);
  let sum = 0;
  for (let i = 0; i < levels && sum < lots; i++) {
    const ticks = opposite.ticksAt(i);
    if (order.side === LONG ? ticks > order.priceTicks : ticks < order.priceTicks) break;
    sum += opposite.lotsAt(i);
  }
  return Math.min(sum, lots);
}

/** Bounds on the open orders of an account, in the market and in all. */
function mayAddOrder(
  s: VenueState,
  session: Session,
  market: Market,
  order: PlaceOrder,
  row: number,
  placement: Placement,
): boolean {
  const places = (placement.isImmediate ? 0 : 1) + exitCount(order);
  if (places === 0) return true;
  const { positions } = market;
  const maxOpenOrders = s.config!.maxOpenOrders;
  const openOrders = row === NONE ? 0 : positions.openOrders(row);
  if (openOrders + places > maxOpenOrders) {
    return refuse(s, REFUSAL.open_order_limit, maxOpenOrders);
  }
  // At most four of a market close the position, and nobody is to be without one.
  const isExempt = order.extras?.closePosition === true;
  if (!isExempt && !hasPlaces(s, session.account, places)) return false;
  if (row === NONE || placement.isImmediate) return true;
  const open = positions.restingNotional(row) + positions.pendingNotional(row);
  const added = placement.lots * order.priceTicks * market.microsPerTickLot;
  if (open + added > MAX_ORDER_NOTIONAL_MICROS) return refuse(s, REFUSAL.notional_limit);
  return true;
}

/** Whether the account's equity allows that many more open orders in all markets. */
function hasPlaces(s: VenueState, account: number, places: number): boolean {
  const { freePlaces } = s.rules;
  let open = 0;
  for (const { positions } of s.markets) {
    const row = positions.rowOf(account);
    if (row !== NONE) open += positions.openOrders(row);
  }
  // Most accounts have few orders, or enough in the wallet.
  if (open + places <= freePlaces + divFloor(s.wallet(account), MICROS_PER_PLACE)) return true;
  const most = freePlaces + Math.max(0, divFloor(accountEquity(s, account), MICROS_PER_PLACE));
  return open + places <= most || refuse(s, REFUSAL.too_many_orders, most, open);
}

/** Wallet, reserves and positions at mark, funding owed included. */
function accountEquity(s: VenueState, account: number): number {
  let equity = s.wallet(account);
  for (const market of s.markets) {
    const row = market.positions.rowOf(account);
    if (row !== NONE) equity += market.positions.reserved(row) + equityOf(market, row);
  }
  return equity;
}
