/**
 * Converts an order's body to the venue's integers: prices in ticks, money in micro-dollars. Rejects what
 * is invalid in any state of the venue.
 */

import type { OrderType, PlaceOrderBody } from "@perpgate/protocol";
import {
  ApiError,
  fromMicros,
  fromSteps,
  MAX_ORDER_NOTIONAL_MICROS,
  NotInUnits,
  toMicrosFloor,
  toSteps,
} from "@perpgate/protocol/core";
import type { MarketUnits } from "@perpgate/venue";
import type { CommandOf } from "./venue-link.js";

type PlaceOrder = CommandOf<"PlaceOrder">;

const TYPES: Readonly<Record<OrderType, PlaceOrder["type"]>> = { market: 0, limit: 1, stop: 2 };
/** Maximum of margin × leverage, in dollars. */
export const MAX_ORDER_NOTIONAL = fromMicros(MAX_ORDER_NOTIONAL_MICROS);

export interface OrderOrigin {
  readonly stampMs: number;
  readonly session: number;
  /** Fingerprint of the key that signed. */
  readonly key: string;
}

export function orderCommandOf(
  body: PlaceOrderBody,
  market: MarketUnits,
  { stampMs, session, key }: OrderOrigin,
): PlaceOrder {
  const { type, price = null, postOnly = false } = body;
  if (price === null && type !== "market") {
    throw new ApiError("price_required", { type }, { field: "price" });
  }
  if (postOnly && type !== "limit") {
    throw new ApiError("post_only_needs_limit", {}, { field: "postOnly" });
  }
  return {
    kind: "PlaceOrder",
    stampMs,
    session,
    key,
    nonce: body.nonce,
    market: market.number,
    side: body.side === "long" ? 1 : -1,
    type: TYPES[type],
    marginMicros: marginOf(body, market),
    leverage: body.leverage,
    priceTicks: price === null ? 0 : ticksOf(price, market),
    reduceOnly: body.reduceOnly ?? false,
    postOnly,
  };
}

function marginOf({ margin }: PlaceOrderBody, market: MarketUnits): number {
  if (margin > MAX_ORDER_NOTIONAL) {
    throw new ApiError("notional_limit", { limit: MAX_ORDER_NOTIONAL }, { field: "margin" });
  }
  const micros = toMicrosFloor(margin);
  if (micros > 0) return micros;
  const lot = market.lot.size;
  throw new ApiError("size_below_lot", { lot, minMargin: fromMicros(1) }, { field: "margin" });
}

function ticksOf(price: number, market: MarketUnits): number {
  try {
    return toSteps(price, market.tick);
  } catch (error) {
    if (!(error instanceof NotInUnits)) throw error;
    const steps = price / market.tick.size;
    if (error.rule !== "off_step" || steps > Number.MAX_SAFE_INTEGER / market.tick.multiplier) {
      const problem = `price ${price} is beyond what ${market.symbol} can be priced at`;
      throw new ApiError("invalid_request", { problem }, { field: "price" });
    }
    const below = fromSteps(Math.floor(steps), market.tick);
    const above = fromSteps(Math.floor(steps) + 1, market.tick);
    const tick = market.tick.size;
    throw new ApiError(
      "price_not_on_tick",
      { price, tick, below, above },
      { field: "price", details: { tick, below, above } },
    );
  }
}
