/** Prices on the tick and sizes on the lot, rounded so that an order never asks for more than was meant. */

import type { Market, Side } from "@perpgate/protocol";
import { fromSteps, stepOf } from "@perpgate/protocol/core";

/** Less than this part of a step is the noise of floating-point sums, not a remainder. */
const NOISE = 1e-9;

/**
 * A price on the market's tick, never worse than the given one: rounded down for a buy, up for a sale.
 *
 * @example
 * const [market] = await client.markets();
 * if (market !== undefined) console.log(priceFor(market, "long", 64_999.97)); // 64999.9 on a tick of 0.1
 */
export function priceFor(
  { tickSize }: Pick<Market, "tickSize">,
  side: Side,
  price: number,
): number {
  return onStep(price, tickSize, side === "long" ? Math.floor : Math.ceil);
}

/**
 * A size in whole lots, never larger than the given one; 0 if that is less than a lot.
 *
 * @example
 * const [market] = await client.markets();
 * if (market !== undefined) console.log(sizeFor(market, 0.012_349)); // 0.01234 on a lot of 0.00001
 */
export function sizeFor({ lotSize }: Pick<Market, "lotSize">, size: number): number {
  return onStep(size, lotSize, Math.floor);
}

function onStep(value: number, stepSize: number, round: (steps: number) => number): number {
  const step = stepOf(stepSize);
  const steps = value / step.size;
  const nearest = Math.round(steps);
  const isNoise = Math.abs(steps - nearest) < NOISE * Math.max(1, nearest);
  return fromSteps(isNoise ? nearest : round(steps), step);
}
