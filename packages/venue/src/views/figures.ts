/** Converts the engine's integers to wire numbers: the shortest equal decimal. */
import { AVERAGE_DIGITS, clientIdOf, fromSteps, PPM, RATE_SCALE } from "@perpgate/protocol/core";
import type { MarketUnits } from "../listing/listing.js";

export function priceOf(market: MarketUnits, ticks: number): number {
  return fromSteps(ticks, market.tick);
}

/**
 * Null for 0 ticks, which mean no price. The nearest number for a market order's worst price that has
 * no exact one: earlier builds accepted those, and such an order must not hide the others.
 */
export function priceOrNull({ tick }: Pick<MarketUnits, "tick">, ticks: number): number | null {
  return ticks === 0 ? null : (ticks * tick.multiplier) / tick.divisor;
}

export function sizeOf(market: MarketUnits, lots: number): number {
  return fromSteps(lots, market.lot);
}

export function fractionOfPpm(ppm: number): number {
  return ppm / PPM;
}

/** From a funding rate in billionths. */
export function fractionOfRate(rate: number): number {
  return rate / RATE_SCALE;
}

/** The client's id in five words of a row; null for none. */
export function clientIdAt(row: ArrayLike<number>, at: number): string | null {
  return clientIdOf([row[at]!, row[at + 1]!, row[at + 2]!, row[at + 3]!, row[at + 4]!]);
}

export function sideOf(sign: number): "long" | "short" {
  return sign > 0 ? "long" : "short";
}

/** A quotient rounded to significant digits, without floating-point noise. */
export function ratio(numerator: number, denominator: number): number {
  return Number((numerator / denominator).toPrecision(AVERAGE_DIGITS));
}
