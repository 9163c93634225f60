/** Can the account pay for an order that it places? (docs/engine.md, "Funds at placement") */
import { divCeil, divFloor, mulDivCeil, mulDivFloor } from "@perpgate/protocol/integers";
import { MARKET_ORDER, type PlaceOrder, STOP_ORDER } from "../commands.js";
import { PPM } from "../config.js";
import { equityOf } from "../money/fill.js";
import { REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import type { Placement } from "../scratch.js";
import type { Market } from "../state/market.js";
import type { Session } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";

/** Of `lots` of a limit order that closes: lots that would open immediately. */
export function openingNow({ closableLots, lotsNow }: Placement, lots: number): number {
  return Math.max(0, Math.min(lotsNow, lots) - closableLots);
}

/** And lots that would rest without closing. */
export function openingResting({ freeLots, lotsNow }: Placement, lots: number): number {
  return Math.max(0, lots - Math.max(freeLots, Math.min(lotsNow, lots)));
}

/** `unit` is the money of one lot at the price that sized the order. */
export function mayAfford(
  s: VenueState,
  session: Session,
  market: Market,
  order: PlaceOrder,
  row: number,
  unit: number,
  placement: Placement,
): boolean {
  if (order.reduceOnly) return true;
  if (placement.sizeLots > 0 && !isWithinMargin(s, order, unit, placement)) return false;
  if (order.type === STOP_ORDER) return true;
  const { leverage } = order;
  const { takerFeePpm } = market.config;
  const wallet = s.wallet(session.account);
  const { closableLots, freeLots, lotsNow } = placement;
  const closes = closableLots > 0 && (placement.isImmediate || freeLots > 0 || lotsNow > 0);
  if (!closes) {
    const notional = spendable(order, placement);
    if (wallet >= openingCost(notional, leverage, takerFeePpm)) return true;
    const largest = largestMargin(wallet, leverage, takerFeePpm);
    return refuse(s, REFUSAL.insufficient_margin, largest, lotsOf(largest, order, unit, placement));
  }
  // Of what cannot rest, the part that is not funded is canceled when it would fill.
  if (placement.isImmediate || canPay(market, order, row, unit, placement, wallet)) return true;
  const largest = largestMarginOfLimit(market, order, row, unit, placement, wallet);
  return refuse(s, REFUSAL.insufficient_margin, largest, lotsOf(largest, order, unit, placement));
}

/** The notional that a limit or market order may come to: its margin bounds a market order's size. */
function spendable({ type, marginMicros, leverage }: PlaceOrder, placement: Placement): number {
  const { notionalMicros, sizeLots } = placement;
  const isBounded = sizeLots > 0 && type === MARKET_ORDER && marginMicros > 0;
  return isBounded ? Math.min(notionalMicros, marginMicros * leverage) : notionalMicros;
}

/** The size that a margin pays for, which a refusal names for orders that have one. */
function lotsOf(
  marginMicros: number,
  { leverage }: PlaceOrder,
  unit: number,
  { sizeLots }: Placement,
): number {
  return sizeLots === 0 ? 0 : divFloor(marginMicros * leverage, unit);
}

/**
 * Whether the margin of a limit or stop order that has a size suffices for what would open of it. A
 * market order takes what its margin allows.
 */
function isWithinMargin(
  s: VenueState,
  order: PlaceOrder,
  unit: number,
  placement: Placement,
): boolean {
  if (order.marginMicros === 0 || order.type === MARKET_ORDER) return true;
  const { lots, closableLots } = placement;
  const rests = order.type !== STOP_ORDER && !placement.isImmediate && closableLots > 0;
  const opening = rests
    ? openingNow(placement, lots) + openingResting(placement, lots)
    : Math.max(0, lots - closableLots);
  const needed = divCeil(opening * unit, order.leverage);
  return needed <= order.marginMicros || refuse(s, REFUSAL.margin_too_small, needed);
}

/**
 * Whether the wallet pays for what would rest; and with the margin, PnL and fee of the closed position
 * for what would open immediately.
 */
export function canPay(
  market: Market,
  order: Pick<PlaceOrder, "leverage" | "priceTicks">,
  row: number,
  unit: number,
  placement: Placement,
  wallet: number,
  lots = placement.lots,
): boolean {
  const { makerFeePpm, takerFeePpm } = market.config;
  const { leverage } = order;
  const price = order.priceTicks * market.microsPerTickLot;
  const resting = openingCost(openingResting(placement, lots) * price, leverage, makerFeePpm);
  if (resting > wallet) return false;
  const now = openingNow(placement, lots);
  if (now === 0) return true;
  const released = releasedByClosing(market, row, placement);
  return resting + openingCost(now * unit, leverage, takerFeePpm) <= wallet + released;
}

/** Margin that closing the whole position releases, with its PnL at mark and less the fee. */
function releasedByClosing(market: Market, row: number, { closableLots }: Placement): number {
  if (closableLots === 0) return 0;
  const fee = mulDivCeil(market.notional(closableLots), market.config.takerFeePpm, PPM);
  return Math.max(0, equityOf(market, row) - fee);
}

/** Margin and fee of opening lots of that notional. */
function openingCost(notionalMicros: number, leverage: number, feePpm: number): number {
  return divCeil(notionalMicros, leverage) + mulDivCeil(notionalMicros, feePpm, PPM);
}

/** The largest margin m with m + ⌈m × leverage × fee⌉ ≤ wallet. */
function largestMargin(walletMicros: number, leverage: number, feePpm: number): number {
  let margin = mulDivFloor(walletMicros, PPM, PPM + leverage * feePpm);
  while (margin > 0 && margin + mulDivCeil(margin, leverage * feePpm, PPM) > walletMicros) margin--;
  return margin;
}

/** The largest margin with which a limit order that closes could be paid for: more lots cost more. */
function largestMarginOfLimit(
  market: Market,
  order: PlaceOrder,
  row: number,
  unit: number,
  placement: Placement,
  wallet: number,
): number {
  let low = 0;
  let high =
    placement.sizeLots === 0
      ? order.marginMicros
      : divCeil(placement.notionalMicros, order.leverage);
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    const lots = divFloor(middle * order.leverage, unit);
    if (canPay(market, order, row, unit, placement, wallet, lots)) low = middle;
    else high = middle;
  }
  return low;
}
