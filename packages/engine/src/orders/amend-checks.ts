/**
 * May this order be amended so? The checks are those of placement, for the lots that would remain, as
 * if the order had just been canceled: what it reserves is in the wallet, and the closing capacity that
 * it covers goes to the orders behind it. No state changes here; the results are left in
 * `scratch.amendment` and `scratch.placement`.
 */
import { divCeil, divFloor, mulDivFloor } from "@perpgate/protocol/integers";
import { EXIT_KINDS, exitKindOf, parentOf } from "@perpgate/protocol/order-id";
import { type AmendOrder, LIMIT_ORDER, STOP_ORDER } from "../commands.js";
import { MAX_ORDER_NOTIONAL_MICROS, PPM } from "../config.js";
import { restingBar } from "../money/opening.js";
import { END, REFUSAL } from "../reasons.js";
import { mayTrade, refuse } from "../refuse.js";
import { MARKET_HALTED, type Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { Session } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";
import { isWellFormed, mayChange, noteAmended } from "./amend-terms.js";
import { closesPosition, isWaitingExit, pendingNotional, triggerOf } from "./open-orders.js";
import { overReason } from "./over.js";
import {
  capOnFills,
  lotsWithin,
  mayPost,
  mayPrice,
  type PricedOrder,
  referenceTicks,
  refuseBar,
} from "./placement-checks.js";
import { isRightSide } from "./placement-exits.js";
import { canPay, openingNow, openingResting } from "./placement-funds.js";
import { mayExpire } from "./placement-terms.js";
import { reserveOf } from "./settle.js";

/** `order`: the row of the order that the command names, or NONE. */
export function mayAmend(
  s: VenueState,
  session: Session,
  order: number,
  command: AmendOrder,
): boolean {
  const { orders } = s;
  if (!isWellFormed(command)) return refuse(s, REFUSAL.invalid_order);
  if (
    order === NONE ||
    orders.market(order) !== command.market ||
    overReason(s, order) !== END.none
  ) {
    return refuse(s, REFUSAL.order_not_amendable);
  }
  const market = s.markets[command.market]!;
  if (market.halted) {
    const isHalted = market.status === MARKET_HALTED;
    return refuse(s, isHalted ? REFUSAL.market_halted : REFUSAL.market_settled);
  }
  if (session.markets !== null && !session.markets.has(market.number)) {
    return refuse(s, REFUSAL.session_symbol_not_allowed);
  }
  if (!mayChange(s, order, command)) return false;
  noteAmended(s, market, order, command);
  const { amendment, placement } = s.scratch;
  // What is left of an order may end whatever its price.
  if (amendment.isCancel) return true;
  if (!mayTrade(s, market)) return false;
  if (command.expiresAtMs > 0 && !mayExpire(s, command.expiresAtMs)) return false;
  const priced: PricedOrder = {
    side: orders.side(order),
    type: orders.isStop(order) ? STOP_ORDER : LIMIT_ORDER,
    priceTicks: amendment.priceTicks,
    extras: {
      trigger: triggerOf(orders, order),
      limitTicks: amendment.limitTicks,
      isIdle: isWaitingExit(orders, order) && orders.remaining(order) === 0,
    },
  };
  placement.bandTicks = mulDivFloor(market.mark, market.config.bandPpm, PPM);
  if (!mayPrice(s, market, priced, placement)) return false;
  if (command.priceTicks > 0 && !mayKeepSides(s, order)) return false;
  // One that closes the position has no lots of its own, and an exit those that it covers.
  if (closesPosition(orders, order) || isWaitingExit(orders, order)) return true;
  return maySize(s, session, market, order, priced);
}

/** Whether an order and its exits stay on the right sides of each other. */
function mayKeepSides(s: VenueState, order: number): boolean {
  const { orders, exits } = s;
  const { priceTicks } = s.scratch.amendment;
  const id = orders.id(order);
  const kind = exitKindOf(id);
  if (kind !== 0) {
    const parent = orders.index.get(parentOf(id));
    if (parent === NONE) return true;
    const base = orders.price(parent);
    return (
      isRightSide(orders.side(parent), kind, priceTicks, base) ||
      refuse(s, REFUSAL.exit_price, base, kind)
    );
  }
  const pair = exits.find(id);
  if (pair === NONE) return true;
  for (const each of EXIT_KINDS) {
    const exit = exits.exit(pair, each);
    if (exit === NONE || !orders.isStop(exit)) continue;
    if (!isRightSide(orders.side(order), each, orders.price(exit), priceTicks)) {
      return refuse(s, REFUSAL.exit_price, priceTicks, each);
    }
  }
  return true;
}

function maySize(
  s: VenueState,
  session: Session,
  market: Market,
  order: number,
  priced: PricedOrder,
): boolean {
  const { orders } = s;
  const { amendment } = s.scratch;
  const { lots, remainingLots } = amendment;
  const maxLeverage = market.config.tiers[0]!.maxLeverage;
  if (orders.leverage(order) > maxLeverage) {
    return refuse(s, REFUSAL.leverage_above_maximum, maxLeverage);
  }
  const unit = referenceTicks(market, priced) * market.microsPerTickLot;
  const whole = lots * unit;
  if (whole > MAX_ORDER_NOTIONAL_MICROS) return refuse(s, REFUSAL.notional_limit);
  const isExit = orders.isReduceOnly(order) || remainingLots <= s.scratch.placement.closableLots;
  const { minNotionalMicros } = market.config;
  if (whole < minNotionalMicros && !isExit) {
    return refuse(s, REFUSAL.notional_too_small, minNotionalMicros);
  }
  if (orders.isPostOnly(order) && !mayPost(s, market, priced)) return false;
  const cap = session.maxOrderNotionalMicros;
  if (cap > 0 && !isExit && whole > cap) return refuse(s, REFUSAL.session_order_cap_exceeded, cap);
  const extras = orders.extrasRow(order);
  const isSized = extras !== NONE && orders.extras.sizeLots(extras) > 0;
  amendment.orderCapMicros = capOnFills(cap, isSized, orders.isReduceOnly(order), whole);
  amendment.filledMicros = (lots - remainingLots) * unit;
  return mayOpenAndPay(s, session, market, order, priced, unit);
}

function mayOpenAndPay(
  s: VenueState,
  session: Session,
  market: Market,
  order: number,
  priced: PricedOrder,
  unit: number,
): boolean {
  const { orders } = s;
  const { positions } = market;
  const { amendment, placement, without } = s.scratch;
  const row = orders.position(order);
  countWithout(s, market, order);
  placement.lots = amendment.remainingLots;
  placement.freeLots = without.freeLots;
  const canTake = priced.type === LIMIT_ORDER && !amendment.keepsRank;
  placement.lotsNow = canTake ? lotsWithin(market, priced, placement.lots) : 0;
  const opening = openingLots(s, order, priced);
  if (opening > 0) {
    const held = placement.closableLots === 0 ? Math.abs(positions.lots(row)) : 0;
    const { account, maxNotionalMicros: cap } = session;
    const leverage = orders.leverage(order);
    const added = opening * unit - without.notionalMicros;
    const bar = restingBar(s, market, account, leverage, held, opening, added, cap);
    if (bar !== END.none) return refuseBar(s, market, bar, held + opening, cap);
  }
  const open = positions.restingNotional(row) + positions.pendingNotional(row);
  const own = placement.lots * priced.priceTicks * market.microsPerTickLot;
  if (open - without.notionalMicros + own > MAX_ORDER_NOTIONAL_MICROS) {
    return refuse(s, REFUSAL.notional_limit);
  }
  if (orders.isReduceOnly(order)) return true;
  if (!isWithinMargin(s, order, priced, unit)) return false;
  if (!canTake) return true;
  return mayPay(s, market, order, priced, unit, s.wallet(session.account) + without.micros);
}

/** Whether the margin of an order with a size suffices for what has opened and what would. */
function isWithinMargin(s: VenueState, order: number, priced: PricedOrder, unit: number): boolean {
  const { orders, scratch } = s;
  const { placement } = scratch;
  const extras = orders.extrasRow(order);
  const margin = orders.margin(order);
  if (extras === NONE || orders.extras.sizeLots(extras) === 0 || margin === 0) return true;
  const { lots, closableLots } = placement;
  const opening =
    priced.type === LIMIT_ORDER && closableLots > 0
      ? openingNow(placement, lots) + openingResting(placement, lots)
      : Math.max(0, lots - closableLots);
  const notional = orders.extras.openedMicros(extras) + opening * unit;
  const needed = divCeil(notional, orders.leverage(order));
  return needed <= margin || refuse(s, REFUSAL.margin_too_small, needed);
}

/** The lots that are judged by what may open, as at placement. */
function openingLots({ orders, scratch }: VenueState, order: number, priced: PricedOrder): number {
  const { placement } = scratch;
  const { lots, closableLots } = placement;
  if (closableLots === 0) return lots;
  if (orders.isReduceOnly(order)) return 0;
  if (priced.type === STOP_ORDER) return Math.max(0, lots - closableLots);
  const resting = openingResting(placement, lots);
  return resting === 0 ? 0 : openingNow(placement, lots) + resting;
}

/** Whether the wallet pays for what would rest and for what would trade immediately. */
function mayPay(
  s: VenueState,
  market: Market,
  order: number,
  { priceTicks }: PricedOrder,
  unit: number,
  wallet: number,
): boolean {
  const { orders } = s;
  const { placement } = s.scratch;
  const row = orders.position(order);
  const leverage = orders.leverage(order);
  const terms = { leverage, priceTicks };
  if (canPay(market, terms, row, unit, placement, wallet)) return true;
  let low = 0;
  let high = divCeil(placement.lots * unit, leverage);
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    const lots = divFloor(middle * leverage, unit);
    if (canPay(market, terms, row, unit, placement, wallet, lots)) low = middle;
    else high = middle;
  }
  return refuse(s, REFUSAL.insufficient_margin, low, divFloor(low * leverage, unit));
}

/** What the account would have if the order were canceled; left in `scratch.without`. */
function countWithout(s: VenueState, market: Market, order: number): void {
  const { orders } = s;
  const { positions } = market;
  const { amendment, placement, without } = s.scratch;
  const row = orders.position(order);
  let left = orders.closing(order);
  without.micros = orders.reserve(order);
  without.notionalMicros = orders.openingNotional(order) + pendingNotional(s, market, order);
  without.freeLots = left;
  // An order that keeps its place keeps its capacity, too; an opening one has none.
  if (amendment.keepsRank || placement.closableLots === 0) return;
  let next = left === 0 ? NONE : positions.frontier(row);
  for (; next !== NONE && left > 0; next = orders.next(next)) {
    if (next === order) continue;
    s.scratch.work.charge(s.rules.unitsPerMove);
    const uncovered = orders.remaining(next) - orders.closing(next);
    const share = Math.min(uncovered, left);
    left -= share;
    if (orders.isReduceOnly(next)) continue;
    without.micros += orders.reserve(next) - reserveOf(s, market, next, uncovered - share);
    without.notionalMicros += share * orders.price(next) * market.microsPerTickLot;
  }
  without.freeLots = placement.closableLots - positions.covered(row) + left;
}
