/**
 * May this order be placed? A chain of early returns in the order of docs/engine.md, each refusing
 * with the rule it guards. No state changes here; the results are left in `scratch.placement`.
 */
import { divFloor, mulDivCeil, mulDivFloor } from "@perpgate/protocol/integers";
import { LIMIT_ORDER, LONG, MARKET_ORDER, type PlaceOrder, STOP_ORDER } from "../commands.js";
import { MAX_ORDER_NOTIONAL_MICROS, PPM, PRICE_RANGE_FACTOR } from "../config.js";
import { closable } from "../money/fill.js";
import { REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import type { Placement } from "../scratch.js";
import { MARKET_HALTED, type Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { Session } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";

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
  if (!isWellFormed(order)) return refuse(s, REFUSAL.invalid_order);
  const maxLeverage = market.config.tiers[0]!.maxLeverage;
  if (order.leverage > maxLeverage) return refuse(s, REFUSAL.leverage_above_maximum, maxLeverage);
  const notional = order.marginMicros * order.leverage;
  if (notional > MAX_ORDER_NOTIONAL_MICROS) return refuse(s, REFUSAL.notional_limit);
  if (order.type !== MARKET_ORDER && order.priceTicks === 0) {
    return refuse(s, REFUSAL.price_required);
  }
  if (order.postOnly && order.type !== LIMIT_ORDER) return refuse(s, REFUSAL.post_only_needs_limit);
  if (market.index === 0) return refuse(s, REFUSAL.stale_index);
  if (market.guard.isHolding) {
    return refuse(s, REFUSAL.index_held, market.guard.heldTicks, market.index);
  }
  const { placement } = s.scratch;
  placement.notionalMicros = notional;
  placement.bandTicks = mulDivFloor(market.mark, market.config.bandPpm, PPM);
  return mayPrice(s, market, order, placement) && maySize(s, session, market, order, placement);
}

function isWellFormed(order: PlaceOrder): boolean {
  return (
    Number.isSafeInteger(order.marginMicros) &&
    order.marginMicros >= 1 &&
    Number.isSafeInteger(order.leverage) &&
    order.leverage >= 1 &&
    Number.isSafeInteger(order.priceTicks) &&
    order.priceTicks >= 0 &&
    Number.isSafeInteger(order.nonce) &&
    order.nonce >= 0
  );
}

function mayPrice(s: VenueState, market: Market, order: PlaceOrder, placement: Placement): boolean {
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
  if (order.type === STOP_ORDER && (isLong ? mark >= price : mark <= price)) {
    return refuse(s, REFUSAL.stop_would_trigger, mark);
  }
  return true;
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
  if (order.reduceOnly && closes === 0) return refuse(s, REFUSAL.reduce_only_without_position);
  const unit = referenceTicks(market, order) * market.microsPerTickLot;
  let lots = divFloor(placement.notionalMicros, unit);
  if (order.reduceOnly) lots = Math.min(lots, closes);
  if (lots < 1) return refuse(s, REFUSAL.size_below_lot);
  placement.lots = lots;

  const opposite = market.opposite(order.side);
  if (order.postOnly && opposite.count > 0) {
    const best = opposite.bestTicks();
    if (order.side === LONG ? order.priceTicks >= best : order.priceTicks <= best) {
      return refuse(s, REFUSAL.post_only_would_cross, best);
    }
  }
  const opening = Math.max(0, lots - closes);
  if (opening > 0 && !mayOpen(s, session, market, order, row, closes > 0, opening)) return false;
  const cap = session.maxOrderNotionalMicros;
  if (cap > 0 && lots * unit > cap) {
    return refuse(s, REFUSAL.session_order_cap_exceeded, cap);
  }
  if (opening > 0 && session.maxNotionalMicros > 0) {
    const held = exposure(s, session.account);
    if (held + opening * unit > session.maxNotionalMicros) {
      return refuse(s, REFUSAL.session_notional_cap_exceeded, session.maxNotionalMicros);
    }
  }
  return mayAfford(s, session, market, order, row, closes, placement);
}

/** The price that turns money into lots. */
function referenceTicks(market: Market, order: PlaceOrder): number {
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

function mayOpen(
  s: VenueState,
  session: Session,
  market: Market,
  order: PlaceOrder,
  row: number,
  flips: boolean,
  opening: number,
): boolean {
  if (s.indexIsStale(market)) return refuse(s, REFUSAL.stale_index);
  if (!market.mayOpen) return refuse(s, REFUSAL.market_reduce_only);
  if (!s.admits(session.account)) return refuse(s, REFUSAL.not_in_cohort);
  const held = row === NONE || flips ? 0 : Math.abs(market.positions.lots(row));
  const result = held + opening;
  const unit = market.markUnit;
  const limit = divFloor(market.maintenance.topMicros, unit);
  if (result > limit) return refuse(s, REFUSAL.position_limit, limit);
  const tier = market.maintenance.tierOf(result * unit);
  if (order.leverage > tier.maxLeverage) {
    return refuse(s, REFUSAL.leverage_above_tier, tier.maxLeverage);
  }
  return true;
}

/** |positions| at mark plus what open orders could add, over all markets, in micros. */
function exposure(s: VenueState, account: number): number {
  let sum = 0;
  for (const { positions, markUnit } of s.markets) {
    const row = positions.rowOf(account);
    if (row === NONE) continue;
    sum +=
      Math.abs(positions.lots(row)) * markUnit +
      positions.restingNotional(row) +
      positions.pendingNotional(row);
  }
  return sum;
}

function mayAfford(
  s: VenueState,
  session: Session,
  market: Market,
  order: PlaceOrder,
  row: number,
  closes: number,
  placement: Placement,
): boolean {
  const { positions } = market;
  const maxOpenOrders = s.config!.maxOpenOrders;
  const openOrders = row === NONE ? 0 : positions.openOrders(row);
  if (order.type !== MARKET_ORDER && openOrders >= maxOpenOrders) {
    return refuse(s, REFUSAL.open_order_limit, maxOpenOrders);
  }
  if (order.type !== MARKET_ORDER && row !== NONE) {
    const open = positions.restingNotional(row) + positions.pendingNotional(row);
    const added = placement.lots * order.priceTicks * market.microsPerTickLot;
    if (open + added > MAX_ORDER_NOTIONAL_MICROS) return refuse(s, REFUSAL.notional_limit);
  }
  if (order.type === STOP_ORDER || order.reduceOnly || closes > 0) return true;
  const { takerFeePpm } = market.config;
  const wallet = s.wallet(session.account);
  const fee = mulDivCeil(placement.notionalMicros, takerFeePpm, PPM);
  if (wallet >= order.marginMicros + fee) return true;
  return refuse(s, REFUSAL.insufficient_margin, largestMargin(wallet, order.leverage, takerFeePpm));
}

/** The largest margin m with m + ⌈m × leverage × fee⌉ ≤ wallet. */
export function largestMargin(walletMicros: number, leverage: number, feePpm: number): number {
  let margin = mulDivFloor(walletMicros, PPM, PPM + leverage * feePpm);
  while (margin > 0 && margin + mulDivCeil(margin, leverage * feePpm, PPM) > walletMicros) margin--;
  return margin;
}
