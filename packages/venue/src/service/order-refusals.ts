/**
 * The API error of an order that the engine refused.
 *
 * The engine gives the code and up to two integers; the other values of the message (the mark, the
 * tiers, the account's position) are read from the views at the same seq.
 */

import type { Session } from "@perpgate/engine/reading";
import type { ErrorCode, ErrorValues, OrderTerms } from "@perpgate/protocol";
import {
  ApiError,
  EXIT_NAMES,
  fromMicros,
  fromSteps,
  INDEX_STALE_MS,
  NONCE_WINDOW,
  PRICE_RANGE_FACTOR,
  TAKE_PROFIT_EXIT,
  toMicrosFloor,
  toSteps,
} from "@perpgate/protocol/core";
import type { MarketUnits } from "../listing/listing.js";
import type { Views } from "../views/views.js";
import { type RefusedOutcome, sessionRefusal } from "./execution.js";
import { MAX_ORDER_NOTIONAL } from "./order-units.js";

interface RefusedOrder {
  readonly body: {
    readonly nonce: number;
    readonly validUntil?: number;
    readonly orderId?: string;
    readonly clientOrderId?: string;
  };
  /** What the order asks for; of an amendment, with what it changes. */
  readonly terms: OrderTerms;
  readonly market: MarketUnits;
  readonly session: Session;
  readonly views: Views;
}

export function orderRefusal(outcome: RefusedOutcome, order: RefusedOrder): Error {
  const { body, terms, market } = order;
  const { symbol } = terms;
  const priceOf = (ticks: number) => fromSteps(ticks, market.tick);
  const price = terms.price ?? 0;
  const time = order.views.timeMs;
  const { detail1, detail2 } = outcome;
  const signing = signingRefusal(outcome, body.nonce);
  if (signing !== undefined) return signing;
  switch (outcome.refusal) {
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
        leverage: terms.leverage ?? 0,
        maxLeverage: detail1,
      });
    case "leverage_above_tier":
      return about("leverage", "leverage_above_tier", {
        notional: resultingNotional(order),
        maxLeverage: detail1,
      });
    case "leverage_limited":
      return about("leverage", "leverage_limited", { symbol, maxLeverage: detail1 });
    case "notional_limit":
      return about("margin", "notional_limit", { limit: MAX_ORDER_NOTIONAL });
    case "price_required":
      return about("price", "price_required", { type: terms.type });
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
      return sizeBelowLot(order);
    case "notional_too_small":
      return about("margin", "notional_too_small", {
        notional: orderNotional(order),
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
        notional: orderNotional(order),
        cap: fromMicros(detail1),
      });
    case "session_notional_cap_exceeded":
      return about("margin", "session_notional_cap_exceeded", {
        notional: exposureWith(order),
        cap: fromMicros(detail1),
      });
    case "open_order_limit":
      return about("symbol", "open_order_limit", { limit: detail1, symbol });
    case "too_many_orders":
      return tooManyOrders(detail1, detail2);
    case "insufficient_margin":
      return about("margin", "insufficient_margin", { maxMargin: fromMicros(detail1) });
    case "too_late":
      return about("validUntil", "too_late", { validUntil: body.validUntil ?? 0, time });
    case "client_order_id_in_use": {
      const { clientOrderId = "" } = terms;
      return about("clientOrderId", "client_order_id_in_use", { clientOrderId });
    }
    case "close_position_in_use":
      return about("closePosition", "close_position_in_use", { symbol });
    case "margin_too_small":
      return about("margin", "margin_too_small", {
        leverage: terms.leverage ?? 0,
        needed: fromMicros(detail1),
        margin: terms.margin ?? 0,
      });
    case "expiry_out_of_range":
      return about("expiresAt", "expiry_out_of_range", { time });
    case "limit_price_outside_band":
      return limitOutsideBand(terms, priceOf(detail1), priceOf(detail2));
    case "exit_price":
      return exitPrice(terms, priceOf(detail1), detail2);
    case "invalid_order": {
      const problem =
        "the order cannot have these terms; an amendment changes limitPrice only of a stop that has " +
        "one, expiresAt only of gtc and closePosition, size not of closePosition";
      return new ApiError("invalid_request", { problem });
    }
    case "order_not_amendable":
      return about("orderId", "order_not_amendable", {
        order: body.orderId ?? body.clientOrderId ?? "",
        problem: "it is no longer open, was reached, or has only its limitPrice left to amend",
      });
    default:
      return sessionRefusal("PlaceOrder", outcome);
  }
}

/** Of what every signed command may be refused for. */
export function signingRefusal(outcome: RefusedOutcome, nonce: number): ApiError | undefined {
  switch (outcome.refusal) {
    case "session_key_rotated":
      return new ApiError("session_key_rotated", {}, { field: "X-Service-Sig" });
    case "nonce_too_old":
      return about("nonce", "nonce_too_old", {
        nonce,
        remembered: NONCE_WINDOW,
        lowest: outcome.detail1,
      });
    default:
      return undefined;
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

function tooManyOrders(limit: number, open: number): ApiError {
  const values = { limit, open };
  return new ApiError("too_many_orders", values, { details: values });
}

/** `limit` is the price of the order, or the mark, which the exit must lie beyond; `kind` its number. */
function exitPrice(terms: OrderTerms, limit: number, kind: number): ApiError {
  const exit = kind === TAKE_PROFIT_EXIT ? "takeProfit" : "stopLoss";
  const isPlaced = terms[exit] !== undefined;
  // The terms of an exit that is amended are its own, and it closes what its order opens.
  const isExit = terms.type === "stop";
  const side = (terms.side === "long") !== isExit ? "long" : "short";
  return about(isPlaced ? exit : "price", "exit_price", {
    exit,
    side,
    where: (side === "long") === (kind === TAKE_PROFIT_EXIT) ? "above" : "below",
    reference: terms.type === "market" ? "the mark" : "the order's price",
    limit,
  });
}

/** The limit of a stop, or of the first exit that is outside its band. */
function limitOutsideBand(terms: OrderTerms, low: number, high: number): ApiError {
  const isOutside = (price: number | null | undefined): price is number =>
    typeof price === "number" && (price < low || price > high);
  const exit = Object.values(EXIT_NAMES).find((name) => isOutside(terms[name]?.limitPrice));
  const field = exit === undefined ? "limitPrice" : `${exit}.limitPrice`;
  const limitPrice = (exit === undefined ? terms.limitPrice : terms[exit]?.limitPrice) ?? 0;
  return about(field, "limit_price_outside_band", { limitPrice, low, high });
}

function scopeOf({ session, views }: RefusedOrder): string {
  return views.account(session).session.scope.symbols?.join(", ") ?? "";
}

function orderNotional({ terms, views }: RefusedOrder): number {
  const { margin = 0, leverage = 0, size, price, symbol } = terms;
  if (size === undefined) return rounded(margin * leverage);
  return rounded(size * (price ?? views.ticker(symbol)?.mark ?? 0));
}

/** What the position would be worth at the mark: held on that side, and the order. */
function resultingNotional(order: RefusedOrder): number {
  const { terms, session, views } = order;
  const held = views.position(session.account, terms.symbol);
  const heldNotional =
    held !== undefined && held.side === terms.side ? Math.abs(held.size) * held.markPrice : 0;
  return rounded(heldNotional + orderNotional(order));
}

/** Positions at mark, what open orders may add, and the order. Reads no orders: there may be thousands. */
function exposureWith(order: RefusedOrder): number {
  const { session, views } = order;
  return rounded(fromMicros(views.exposureMicros(session.account)) + orderNotional(order));
}

type SizedOrder = Pick<RefusedOrder, "terms" | "market" | "views">;

export function sizeBelowLot(order: SizedOrder): ApiError {
  const lot = order.market.lot.size;
  return about("margin", "size_below_lot", { lot, minMargin: smallestMargin(order) });
}

/** The least margin that passes: for one lot at the price that decides the size, and the smallest order. */
function smallestMargin({ terms, market, views }: SizedOrder): number {
  const { symbol, side, type, reduceOnly = false, leverage = 1 } = terms;
  const ticker = views.ticker(symbol);
  const best = (side === "long" ? ticker?.ask : ticker?.bid) ?? null;
  const limit = type === "market" ? null : (terms.price ?? null);
  const isCrossingShort = limit !== null && type === "limit" && side === "short";
  const price = isCrossingShort ? Math.max(limit, best ?? 0) : (limit ?? best ?? ticker?.mark ?? 0);
  // Before the first index there is no price.
  const lotMicros = price > 0 ? toSteps(price, market.tick) * market.microsPerTickLot : 0;
  const leastMicros = reduceOnly ? 0 : toMicrosFloor(views.market(symbol)?.minNotional ?? 0);
  return fromMicros(Math.ceil(Math.max(lotMicros, leastMicros) / leverage));
}

/** Dollars without the noise of floats. */
function rounded(dollars: number): number {
  return Math.round(dollars * 100) / 100;
}
