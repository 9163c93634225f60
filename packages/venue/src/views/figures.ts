/** Integers of the engine as the numbers of the wire: the shortest decimal that says the same. */
import { fromMicros, fromSteps } from "@perpgate/protocol/units";
import type { MarketUnits } from "../listing/listing.js";

/** Digits of an average that is not a whole tick. */
const AVERAGE_DIGITS = 12;
const PPM = 1_000_000;
const RATE_SCALE = 1_000_000_000;

export function priceOf(market: MarketUnits, ticks: number): number {
  return fromSteps(ticks, market.tick);
}

/** A price that is 0 where there is none. */
export function priceOrNull(market: MarketUnits, ticks: number): number | null {
  return ticks === 0 ? null : fromSteps(ticks, market.tick);
}

export function sizeOf(market: MarketUnits, lots: number): number {
  return fromSteps(lots, market.lot);
}

/** The average price of lots that came to so many micros; 0 for no lots. Both may be negative. */
export function averagePrice(market: MarketUnits, micros: number, lots: number): number {
  if (lots === 0) return 0;
  const ticks = micros / (lots * market.microsPerTickLot);
  if (Number.isSafeInteger(ticks)) return fromSteps(ticks, market.tick);
  const price = (ticks * market.tick.multiplier) / market.tick.divisor;
  return Number(price.toPrecision(AVERAGE_DIGITS));
}

export function fractionOfPpm(ppm: number): number {
  return ppm / PPM;
}

/** A funding rate, kept in billionths. */
export function fractionOfRate(rate: number): number {
  return rate / RATE_SCALE;
}

export { fromMicros };

export function sideOf(sign: number): "long" | "short" {
  return sign > 0 ? "long" : "short";
}

/** A number that a division made, without the noise of its last digits. */
export function ratio(numerator: number, denominator: number): number {
  return Number((numerator / denominator).toPrecision(AVERAGE_DIGITS));
}
