/** Prices, sizes and money of a request's body in the integers of a market. */

import {
  ApiError,
  fromMicros,
  fromSteps,
  MAX_ORDER_NOTIONAL_MICROS,
  NotInUnits,
  type Step,
  toMicrosFloor,
  toSteps,
} from "@perpgate/protocol/core";
import type { MarketUnits } from "../listing/listing.js";

/** Maximum of margin × leverage, in dollars. */
export const MAX_ORDER_NOTIONAL = fromMicros(MAX_ORDER_NOTIONAL_MICROS);

/** Micros of a margin, floored: 0 for less than one. */
export function marginMicrosOf(margin: number): number {
  if (margin > MAX_ORDER_NOTIONAL) {
    throw new ApiError("notional_limit", { limit: MAX_ORDER_NOTIONAL }, { field: "margin" });
  }
  return toMicrosFloor(margin);
}

export function ticksOf(
  price: number,
  market: Pick<MarketUnits, "symbol" | "tick">,
  field: string,
): number {
  const { tick: step, symbol } = market;
  return stepsOf(price, step, field, symbol, ({ below, above }) => {
    const tick = step.size;
    const details = { tick, below, above };
    return new ApiError("price_not_on_tick", { price, ...details }, { field, details });
  });
}

export function lotsOf(size: number, market: MarketUnits): number {
  const { lot: step, symbol } = market;
  return stepsOf(size, step, "size", symbol, ({ below, above }) => {
    const lot = step.size;
    const details = { lot, below, above };
    return new ApiError("size_not_on_lot", { size, ...details }, { field: "size", details });
  });
}

function stepsOf(
  value: number,
  step: Step,
  field: string,
  symbol: string,
  offStep: (nearest: { readonly below: number; readonly above: number }) => ApiError,
): number {
  const below = Math.floor(value / step.size);
  const beyond = (): ApiError => {
    const problem = `${field} ${value} is beyond what ${symbol} can express`;
    return new ApiError("invalid_request", { problem }, { field });
  };
  // What is stored is read back as a number, and so are the neighbours in the refusal.
  if ((below + 1) * step.multiplier > Number.MAX_SAFE_INTEGER) throw beyond();
  try {
    return toSteps(value, step);
  } catch (error) {
    if (!(error instanceof NotInUnits)) throw error;
    if (error.rule !== "off_step") throw beyond();
    throw offStep({ below: fromSteps(below, step), above: fromSteps(below + 1, step) });
  }
}
