/**
 * Converts an order's body to the venue's integers: prices in ticks, money in micro-dollars. Rejects what
 * is invalid in any state of the venue.
 */

import type { ExitTerms, OrderTerms, OrderType } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import type { MarketUnits } from "../listing/listing.js";
import type { Views } from "../views/views.js";
import type { CommandOf } from "./execution.js";
import { extrasOf, isExtended, wrongField } from "./order-extras.js";
import { sizeBelowLot } from "./order-refusals.js";
import { lotsOf, marginMicrosOf, ticksOf } from "./order-units.js";

type PlaceOrder = CommandOf<"PlaceOrder">;
type AmendOrder = CommandOf<"AmendOrder">;

const TYPES: Readonly<Record<OrderType, PlaceOrder["type"]>> = { market: 0, limit: 1, stop: 2 };

/** Who sends a signed command, and when. */
export interface CommandOrigin {
  readonly stampMs: number;
  readonly session: number;
  /** Fingerprint of the key that signed. */
  readonly key: string;
  readonly nonce: number;
  /** 0: none. */
  readonly validUntilMs: number;
}

export function orderCommandOf(
  body: OrderTerms,
  market: MarketUnits,
  { stampMs, session, key, nonce, validUntilMs }: CommandOrigin,
  views: Views,
): PlaceOrder {
  const { type, price = null, postOnly = false } = body;
  if (price === null && type !== "market") {
    throw new ApiError("price_required", { type }, { field: "price" });
  }
  if (postOnly && type !== "limit") {
    throw new ApiError("post_only_needs_limit", {}, { field: "postOnly" });
  }
  const command = {
    kind: "PlaceOrder",
    stampMs,
    session,
    key,
    nonce,
    market: market.number,
    side: body.side === "long" ? 1 : -1,
    type: TYPES[type],
    // First: the smallest margin is one at this price.
    priceTicks: price === null ? 0 : ticksOf(price, market, "price"),
    marginMicros: marginOf(body, market, views),
    leverage: leverageOf(body),
    reduceOnly: body.reduceOnly ?? false,
    postOnly,
  } as const;
  const isPlain = validUntilMs === 0 && !isExtended(body);
  const extended = isPlain ? command : { ...command, extras: extrasOf(body, market, validUntilMs) };
  const exits = exitsOf(body, market, views.engineVersion);
  return exits === undefined ? extended : { ...extended, exits };
}

/** 0 where the size, or the position that is closed, decides the lots. */
function marginOf(terms: OrderTerms, market: MarketUnits, views: Views): number {
  const { margin, size, closePosition } = terms;
  if (closePosition === true) return 0;
  if (margin !== undefined) {
    const micros = marginMicrosOf(margin);
    if (micros === 0) throw sizeBelowLot({ terms, market, views });
    return micros;
  }
  if (size !== undefined) return 0;
  throw wrongField("margin", "margin is missing: send margin, size or both");
}

function leverageOf({ leverage, closePosition }: OrderTerms): number {
  if (closePosition === true) return 1;
  if (leverage !== undefined) return leverage;
  throw wrongField("leverage", "leverage is missing");
}

/** The changes of an amendment, without its target. */
type AmendedTerms = Pick<AmendOrder, "priceTicks" | "sizeLots" | "limitTicks" | "expiresAtMs">;

interface AmendBody {
  readonly price?: number;
  readonly size?: number;
  readonly limitPrice?: number;
  readonly expiresAt?: number | null;
}

export function amendedTermsOf(body: AmendBody, market: MarketUnits): AmendedTerms {
  const { price, size, limitPrice, expiresAt } = body;
  if (
    price === undefined &&
    size === undefined &&
    limitPrice === undefined &&
    expiresAt === undefined
  ) {
    throw wrongField("price", "nothing is amended: send price, size, limitPrice or expiresAt");
  }
  return {
    priceTicks: price === undefined ? 0 : ticksOf(price, market, "price"),
    sizeLots: size === undefined ? 0 : lotsOf(size, market),
    limitTicks: limitPrice === undefined ? 0 : ticksOf(limitPrice, market, "limitPrice"),
    expiresAtMs: expiresAt === undefined ? -1 : (expiresAt ?? 0),
  };
}

/** The take-profit and the stop-loss that an order is sent with, in the venue's integers. */
type OrderExits = NonNullable<CommandOf<"PlaceOrder">["exits"]>;

/** The first version of the engine's rules with exits. */
const EXITS_FROM_VERSION = 3;

/** Undefined for an order without exits. */
function exitsOf(body: OrderTerms, market: MarketUnits, version: number): OrderExits | undefined {
  const { takeProfit, stopLoss } = body;
  if (takeProfit === undefined && stopLoss === undefined) return undefined;
  const exit = takeProfit === undefined ? "stopLoss" : "takeProfit";
  if (body.type === "stop") throw wrongField(exit, `${exit} is for market and limit orders only`);
  if (body.reduceOnly === true) {
    throw wrongField(exit, `${exit} is for orders that open; this one is reduceOnly`);
  }
  if (version < EXITS_FROM_VERSION) {
    throw new ApiError("exits_not_supported", { exit, version }, { field: exit });
  }
  return {
    takeProfitTicks: priceOf(takeProfit, "takeProfit", market),
    takeProfitLimitTicks: limitOf(takeProfit, "takeProfit", market),
    stopLossTicks: priceOf(stopLoss, "stopLoss", market),
    stopLossLimitTicks: limitOf(stopLoss, "stopLoss", market),
  };
}

function priceOf(exit: ExitTerms | undefined, name: string, market: MarketUnits): number {
  return exit === undefined ? 0 : ticksOf(exit.price, market, `${name}.price`);
}

function limitOf(exit: ExitTerms | undefined, name: string, market: MarketUnits): number {
  const limitPrice = exit?.limitPrice ?? null;
  return limitPrice === null ? 0 : ticksOf(limitPrice, market, `${name}.limitPrice`);
}
