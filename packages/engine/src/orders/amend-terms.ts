/**
 * What an amendment may change of which order, and what the order would have then (docs/engine.md,
 * "AmendOrder"). No state changes here.
 */
import { type AmendOrder, GOOD_TILL_CANCELED } from "../commands.js";
import { closable } from "../money/fill.js";
import { REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";
import { closesPosition, isTriggered, isWaitingExit, limitOf } from "./open-orders.js";
import { isReached } from "./stops.js";

/** Whether its figures are such, and it changes anything. */
export function isWellFormed(command: AmendOrder): boolean {
  const { nonce, priceTicks, sizeLots, limitTicks, expiresAtMs } = command;
  const changes = priceTicks > 0 || sizeLots > 0 || limitTicks > 0 || expiresAtMs !== -1;
  return (
    changes &&
    isWhole(nonce) &&
    isWhole(priceTicks) &&
    isWhole(sizeLots) &&
    isWhole(limitTicks) &&
    (expiresAtMs === -1 || isWhole(expiresAtMs))
  );
}

function isWhole(figure: number): boolean {
  return Number.isSafeInteger(figure) && figure >= 0;
}

/** Whether the order is such that what the command changes can be changed. */
export function mayChange(s: VenueState, order: number, command: AmendOrder): boolean {
  const { orders } = s;
  if (orders.isStop(order)) {
    if (isTriggered(orders, order) || isReached(s, order)) {
      return refuse(s, REFUSAL.order_not_amendable);
    }
  } else if (limitOf(orders, order) > 0) {
    // A stop that was triggered and rests: the limit alone.
    const { priceTicks, sizeLots, expiresAtMs } = command;
    const isLimitAlone = priceTicks === 0 && sizeLots === 0 && expiresAtMs === -1;
    return isLimitAlone || refuse(s, REFUSAL.order_not_amendable);
  }
  return hasChanged(s, order, command) || refuse(s, REFUSAL.invalid_order);
}

/** Whether the order has what the command changes: no order becomes one of another kind. */
function hasChanged(s: VenueState, order: number, command: AmendOrder): boolean {
  const { orders } = s;
  const closes = closesPosition(orders, order);
  // An exit has the lots that it covers, for as long as it does.
  if (isWaitingExit(orders, order) && (command.sizeLots > 0 || command.expiresAtMs !== -1)) {
    return false;
  }
  if (command.sizeLots > 0 && closes) return false;
  if (command.limitTicks > 0 && limitOf(orders, order) === 0) return false;
  if (command.expiresAtMs === -1 || closes || !orders.isStop(order)) return true;
  // Of the other stops, those that can rest expire.
  const extras = orders.extrasRow(order);
  return extras !== NONE && orders.extras.timeInForce(extras) === GOOD_TILL_CANCELED;
}

/** Writes the terms as they would be to `scratch.amendment`. */
export function noteAmended(
  s: VenueState,
  market: Market,
  order: number,
  command: AmendOrder,
): void {
  const { orders } = s;
  const { amendment, placement } = s.scratch;
  const { sizeLots } = command;
  const price = orders.price(order);
  const remaining = orders.remaining(order);
  const filled = orders.lots(order) - remaining;
  const closes = closable(market, orders.position(order), orders.side(order));
  let wanted = sizeLots === 0 ? remaining : Math.max(0, sizeLots - filled);
  if (sizeLots > 0 && orders.isReduceOnly(order)) wanted = Math.min(wanted, closes);
  const limitTicks = command.limitTicks === 0 ? limitOf(orders, order) : command.limitTicks;
  // The price at which a triggered one rests is its limit.
  const isTriggeredStop = limitTicks > 0 && !orders.isStop(order);
  const priceTicks = isTriggeredStop ? limitTicks : command.priceTicks;
  amendment.priceTicks = priceTicks === 0 ? price : priceTicks;
  amendment.limitTicks = limitTicks;
  amendment.lots = filled + wanted;
  amendment.remainingLots = wanted;
  amendment.isCancel = sizeLots > 0 && wanted === 0;
  const extras = orders.extrasRow(order);
  const expiresAtMs = extras === NONE ? 0 : orders.extras.expiresAtMs(extras);
  amendment.expiresAtMs = command.expiresAtMs === -1 ? expiresAtMs : command.expiresAtMs;
  amendment.keepsRank = amendment.priceTicks === price && wanted <= remaining;
  amendment.orderCapMicros = 0;
  amendment.filledMicros = 0;
  placement.closableLots = closes;
}
