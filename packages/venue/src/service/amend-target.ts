/** The open order that an amendment or a cancel names, by its id or by the client's own. */

import type { Amendment, AmendOrderBody, Order, OrderTerms } from "@perpgate/protocol";
import { ApiError, parseOrderId } from "@perpgate/protocol/core";
import type { MarketUnits } from "../listing/listing.js";
import type { Venue } from "../venue.js";
import type { CommandOf } from "./execution.js";
import { amendedTermsOf, type CommandOrigin } from "./order-command.js";
import { wrongField } from "./order-extras.js";
import { about } from "./order-refusals.js";

export interface NamedOrder {
  readonly orderId?: string;
  readonly clientOrderId?: string;
}

/** @throws ApiError `invalid_request` unless exactly one name is given. */
export function requireOneName({ orderId, clientOrderId }: NamedOrder): void {
  if (orderId === undefined && clientOrderId === undefined) {
    throw wrongField("orderId", "orderId or clientOrderId is missing");
  }
  if (orderId !== undefined && clientOrderId !== undefined) {
    throw wrongField("clientOrderId", "send orderId or clientOrderId, not both");
  }
}

/** @throws ApiError `order_not_found`, also for an order of another account. */
export function requireNamedOrder({ views }: Venue, account: number, named: NamedOrder): Order {
  const { orderId, clientOrderId = "" } = named;
  const id =
    orderId === undefined ? views.openOrderNamed(account, clientOrderId) : parseOrderId(orderId);
  const order = id === undefined ? undefined : views.order(account, id);
  if (order === undefined) throw orderNotFound(named);
  return order;
}

/** The order that the name meant at a seq; it may have ended before that, or since. */
export function orderNamedBefore(
  { views }: Venue,
  account: number,
  named: NamedOrder,
  seq: number,
): Order {
  const { orderId, clientOrderId = "" } = named;
  const order =
    orderId === undefined
      ? views.ordersNamed(account, { clientOrderId }, { before: String(seq), limit: 1 }).rows[0]
      : views.order(account, orderNumberOf(orderId));
  if (order === undefined || orderNumberOf(order.orderId) >= seq) throw orderNotFound(named);
  return order;
}

/** The number of an id. One that no log reaches names no order, as 0 does. */
export function orderNumberOf(orderId = "0"): number {
  return parseOrderId(orderId) ?? 0;
}

export function orderNotFound({ orderId, clientOrderId = "" }: NamedOrder): ApiError {
  return new ApiError("order_not_found", { orderId: orderId ?? clientOrderId });
}

export function isOpen({ status }: Order): boolean {
  return status === "resting" || status === "pending";
}

export interface AmendTarget {
  readonly market: MarketUnits;
  /** The order's terms with the amendment, for the message of a refusal. */
  amended(amendment: Amendment): OrderTerms;
}

/** The order that body and path of an amendment name; it may have ended. */
export function orderToAmend(
  venue: Venue,
  account: number,
  body: AmendOrderBody,
  pathId: string,
): Order {
  requireOneName(body);
  const order = requireNamedOrder(venue, account, body);
  const names = [order.orderId, ...(body.clientOrderId === undefined ? [] : [body.clientOrderId])];
  if (!names.includes(pathId)) {
    throw wrongField("orderId", `the path names order ${pathId}, the body ${names.join(" or ")}`);
  }
  return order;
}

export function targetOfOrder({ listing }: Venue, order: Order): AmendTarget {
  const { symbol, side, type, leverage, margin, remainingSize: size } = order;
  const market = listing.named(symbol);
  if (market === undefined)
    throw new Error(`order ${order.orderId} is in a market that is not listed`);
  // A stop that was triggered rests at its limit.
  const isTriggered = type === "stop" && order.status === "resting";
  const price = isTriggered ? order.limitPrice : order.price;
  const terms = { symbol, side, type, price, leverage, margin, size };
  return {
    market,
    amended: (amendment) => {
      const { limitPrice, ...others } = amendment;
      if (!isTriggered || limitPrice === undefined) return withAmendment(terms, amendment);
      return withAmendment({ ...terms, price: limitPrice }, others);
    },
  };
}

export function withAmendment(
  terms: OrderTerms,
  { price, size, limitPrice, expiresAt }: Amendment,
) {
  return {
    ...terms,
    ...(price === undefined ? {} : { price }),
    ...(size === undefined ? {} : { size }),
    ...(limitPrice === undefined ? {} : { limitPrice }),
    ...(expiresAt === undefined || expiresAt === null ? {} : { expiresAt }),
  };
}

export function amendCommandOf(
  body: Amendment,
  { market }: AmendTarget,
  { stampMs, session, key, nonce, validUntilMs }: CommandOrigin,
): CommandOf<"AmendOrder"> {
  return {
    kind: "AmendOrder",
    stampMs,
    session,
    key,
    nonce,
    market: market.number,
    orderId: orderNumberOf(body.orderId),
    clientOrderId: body.clientOrderId ?? "",
    ...amendedTermsOf(body, market),
    validUntilMs,
  };
}

export function notAmendable({ orderId, status }: Order): ApiError {
  const problem = `it is ${status}`;
  return about("orderId", "order_not_amendable", { order: orderId, problem });
}
