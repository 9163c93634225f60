/**
 * The API error of an order that the engine refused.
 *
 * The engine gives the code and up to two integers; the other values of the message (the mark, the
 * tiers, the account's position) are read from the views at the same seq.
 */

import type { ErrorCode, ErrorValues, PlaceOrderBody } from "@perpgate/protocol";
import {
  ApiError,
  fromMicros,
  fromSteps,
  INDEX_STALE_MS,
  NONCE_WINDOW,
  PRICE_RANGE_FACTOR,
} from "@perpgate/protocol/core";
import type { MarketUnits, Views } from "@perpgate/venue";
import { MAX_ORDER_NOTIONAL } from "./order-command.js";
import { sessionRefusal } from "./session-flow.js";
import type { LiveSession, RefusedOutcome } from "./venue-link.js";

export interface RefusedOrder {
  readonly body: PlaceOrderBody;
  readonly market: MarketUnits;
  readonly session: LiveSession;
  readonly views: Views;
}

export function orderRefusal(outcome: RefusedOutcome, order: RefusedOrder): Error {
  const { body, market } = order;
  const { symbol } = body;
  const priceOf = (ticks: number) => fromSteps(ticks, market.tick);
  const price = body.price ?? 0;
  const { detail1, detail2 } = outcome;
  switch (outcome.refusal) {
    case "session_key_rotated":
      return new ApiError("session_key_rotated", {}, { field: "X-Service-Sig" });
    case "nonce_too_old":
      return about("nonce", "nonce_too_old", {
        nonce: body.nonce,
        remembered: NONCE_WINDOW,
        lowest: detail1,
      });
    case "unknown_symbol":
      return about("symbol", "unknown_symbol", { symbol });
    case "market_halted":
      return about("symbol", "market_halted", { symbol });
    case "market_reduce_only":
      return about("symbol", "market_reduce_only", { symbol });
    case "market_settled":
      return about("symbol", "market_settled", { symbol });
    case "deposit_reorged":
      return about("symbol", "deposit_reorged", { symbol });
    case "session_symbol_not_allowed":
      return about("symbol", "session_symbol_not_allowed", { symbol, symbols: scopeOf(order) });
    case "leverage_above_maximum":
      return about("leverage", "leverage_above_maximum", {
        leverage: body.leverage,
        maxLeverage: detail1,
      });
    case "leverage_above_tier":
      return about("leverage", "leverage_above_tier", {
        notional: resultingNotional(order),
        maxLeverage: detail1,
      });
    case "notional_limit":
      return about("margin", "notional_limit", { limit: MAX_ORDER_NOTIONAL });
    case "price_required":
      return about("price", "price_required", { type: body.type });
    case "post_only_needs_limit":
      return new ApiError("post_only_needs_limit", {}, { field: "postOnly" });
    case "stale_index":
      return about("symbol", "stale_index", { symbol, maxAgeSeconds: INDEX_STALE_MS / 1_000 });
    case "index_held":
      return about("symbol", "index_held", {
        symbol,
        index: priceOf(detail2),
        held: priceOf(detail1),
      });
    case "price_outside_band":
      return about("price", "price_outside_band", {
        price,
        low: priceOf(detail1 - detail2),
        high: priceOf(detail1 + detail2),
        mark: priceOf(detail1),
      });
    case "price_too_far":
      return about("price", "price_too_far", {
        low: priceOf(Math.ceil(detail1 / PRICE_RANGE_FACTOR)),
        high: priceOf(detail1 * PRICE_RANGE_FACTOR),
      });
    case "stop_would_trigger":
      return about("price", "stop_would_trigger", { mark: priceOf(detail1), price });
    case "reduce_only_without_position":
      return about("reduceOnly", "reduce_only_without_position", { symbol });
    case "size_below_lot":
      return about("margin", "size_below_lot", {
        lot: market.lot.size,
        minMargin: smallestMargin(order),
      });
    case "notional_too_small":
      return about("margin", "notional_too_small", {
        notional: rounded(body.margin * body.leverage),
        minNotional: fromMicros(detail1),
      });
    case "post_only_would_cross":
      return about("price", "post_only_would_cross", { price, best: priceOf(detail1) });
    case "not_in_cohort":
      return about("symbol", "not_in_cohort", { stage: order.views.cohortStage });
    case "position_limit":
      return about("margin", "position_limit", {
        notional: resultingNotional(order),
        limit: order.views.market(symbol)?.tiers.at(-1)?.notionalUpTo ?? 0,
      });
    case "session_order_cap_exceeded":
      return about("margin", "session_order_cap_exceeded", {
        notional: orderNotional(body),
        cap: fromMicros(detail1),
      });
    case "session_notional_cap_exceeded":
      return about("margin", "session_notional_cap_exceeded", {
        notional: exposureWith(order),
        cap: fromMicros(detail1),
      });
    case "open_order_limit":
      return about("symbol", "open_order_limit", { limit: detail1, symbol });
    case "insufficient_margin":
      return about("margin", "insufficient_margin", { maxMargin: fromMicros(detail1) });
    default:
      return sessionRefusal("PlaceOrder", outcome);
  }
}

type CodeWithValues = {
  [Code in ErrorCode]: keyof ErrorValues<Code> extends never ? never : Code;
}[ErrorCode];

/** A refusal about a field; what its message says in words, its details say in numbers. */
export function about<Code extends CodeWithValues>(
  field: string,
  code: Code,
  values: ConstructorParameters<typeof ApiError<Code>>[1],
): ApiError<Code> {
  return new ApiError(code, values, { field, details: { ...values } });
}

function scopeOf({ session, views }: RefusedOrder): string {
  return views.account(session).session.scope.symbols?.join(", ") ?? "";
}

function orderNotional({ margin, leverage }: PlaceOrderBody): number {
  return rounded(margin * leverage);
}

/** What the position would be worth at the mark: held on that side, and the order. */
function resultingNotional({ body, session, views }: RefusedOrder): number {
  const held = views.position(session.account, body.symbol);
  const heldNotional =
    held !== undefined && held.side === body.side ? Math.abs(held.size) * held.markPrice : 0;
  return rounded(heldNotional + orderNotional(body));
}

/** Positions at mark, what open orders may add, and the order. */
function exposureWith({ body, session, views }: RefusedOrder): number {
  let sum = orderNotional(body);
  for (const { size, markPrice } of views.positions(session.account)) {
    sum += Math.abs(size) * markPrice;
  }
  for (const { price, remainingSize, reduceOnly } of views.openOrders(session.account)) {
    if (!reduceOnly) sum += (price ?? 0) * remainingSize;
  }
  return rounded(sum);
}

/** The margin that buys one lot at the price that decides the size. */
function smallestMargin({ body, market, views }: RefusedOrder): number {
  const ticker = views.ticker(body.symbol);
  const best = body.side === "long" ? ticker?.ask : ticker?.bid;
  const limit = body.type === "market" ? null : (body.price ?? null);
  const isCrossingShort = limit !== null && body.type === "limit" && body.side === "short";
  const price = isCrossingShort ? Math.max(limit, best ?? 0) : (limit ?? best ?? ticker?.mark ?? 0);
  return Math.ceil((price * market.lot.size * 1e6) / body.leverage - 1e-6) / 1e6;
}

/** Dollars without the noise of floats. */
function rounded(dollars: number): number {
  return Math.round(dollars * 100) / 100;
}
