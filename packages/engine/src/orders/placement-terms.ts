/**
 * The terms that plain orders do not have: which of them make an order, how far ahead it may expire,
 * and whether its client id is free (docs/engine.md, "Terms").
 */
import { type ClientIdWords, clientIdWords } from "@perpgate/protocol/client-order-id";
import {
  CANCEL_BOTH,
  FILL_OR_KILL,
  GOOD_TILL_CANCELED,
  IMMEDIATE_OR_CANCEL,
  MARKET_ORDER,
  type OrderExtras,
  type PlaceOrder,
  STOP_ORDER,
  STOP_TRIGGER,
  TAKE_PROFIT_TRIGGER,
} from "../commands.js";
import { MAX_EXPIRY_MS, MIN_EXPIRY_MS } from "../config.js";
import { REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import { NONE } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";

/** Whether such an order can exist; the figures of a plain order are checked elsewhere. */
export function hasValidTerms(order: PlaceOrder, extras: OrderExtras): boolean {
  return (
    isWhole(extras.sizeLots) &&
    isWhole(extras.expiresAtMs) &&
    isWhole(extras.validUntilMs) &&
    isUpTo(extras.timeInForce, FILL_OR_KILL) &&
    isUpTo(extras.selfTrade, CANCEL_BOTH) &&
    clientIdWords(extras.clientOrderId) !== undefined &&
    hasValidTrigger(order, extras) &&
    hasValidLife(order, extras)
  );
}

/** What only stops have. */
function hasValidTrigger({ type }: PlaceOrder, extras: OrderExtras): boolean {
  const { trigger, limitTicks, closePosition } = extras;
  if (!isUpTo(trigger, TAKE_PROFIT_TRIGGER) || !isWhole(limitTicks)) return false;
  if (closePosition && (limitTicks > 0 || extras.sizeLots > 0)) return false;
  return type === STOP_ORDER || (trigger === STOP_TRIGGER && limitTicks === 0 && !closePosition);
}

/** How long it lives: by its type, and by what it may not be combined with. */
function hasValidLife(order: PlaceOrder, extras: OrderExtras): boolean {
  const { timeInForce, sizeLots, expiresAtMs, limitTicks, closePosition } = extras;
  const rests = timeInForce === GOOD_TILL_CANCELED;
  if (order.type === MARKET_ORDER && rests) return false;
  if (order.type === MARKET_ORDER && timeInForce === FILL_OR_KILL && sizeLots === 0) return false;
  if (order.type === STOP_ORDER && timeInForce !== IMMEDIATE_OR_CANCEL) {
    if (!rests || limitTicks === 0) return false;
  }
  return rests || (closePosition && !order.postOnly) || (!order.postOnly && expiresAtMs === 0);
}

function isWhole(figure: number): boolean {
  return Number.isSafeInteger(figure) && figure >= 0;
}

function isUpTo(code: number, highest: number): boolean {
  return isWhole(code) && code <= highest;
}

/** Checks of the terms against time and the account's other orders. */
export function mayHaveTerms(s: VenueState, account: number, extras: OrderExtras): boolean {
  if (!mayExpire(s, extras.expiresAtMs)) return false;
  const words = clientIdWords(extras.clientOrderId);
  if (words === undefined) return refuse(s, REFUSAL.invalid_order);
  s.scratch.clientId = words;
  const other = words[0] === 0 ? NONE : orderOfClient(s, account, words);
  if (other !== NONE) return refuse(s, REFUSAL.client_order_id_in_use, s.orders.id(other));
  return true;
}

/** The account's open order, resting or pending, with that client id, or NONE. */
function orderOfClient(s: VenueState, account: number, words: ClientIdWords): number {
  return s.orders.clientIds.find(account, words);
}

/** The account's open order of that id or, if that is 0, of that client id; NONE if there is none. */
export function namedOrder(
  s: VenueState,
  account: number,
  orderId: number,
  clientOrderId: string,
): number {
  if (orderId !== 0) {
    const order = s.orders.index.get(orderId);
    return order !== NONE && s.orders.account(order) === account ? order : NONE;
  }
  const words = clientIdWords(clientOrderId);
  return words === undefined || words[0] === 0 ? NONE : orderOfClient(s, account, words);
}

/** Whether an order may expire then; 0: never. */
export function mayExpire(s: VenueState, expiresAtMs: number): boolean {
  const earliest = s.timeMs + MIN_EXPIRY_MS;
  const latest = s.timeMs + MAX_EXPIRY_MS;
  if (expiresAtMs === 0 || (expiresAtMs >= earliest && expiresAtMs <= latest)) return true;
  return refuse(s, REFUSAL.expiry_out_of_range, earliest, latest);
}
