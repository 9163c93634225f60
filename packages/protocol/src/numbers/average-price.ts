/** The average price of a fill or a position, rounded as on the wire. */

import { fromSteps, type Step } from "./units.js";

/** Converts a market's integers into numbers of the wire. */
export interface UnitsOfMarket {
  readonly symbol: string;
  readonly tick: Step;
  readonly lot: Step;
  readonly microsPerTickLot: number;
}

/** Digits of an average that is not a whole tick. */
export const AVERAGE_DIGITS = 12;

/** The average price of `lots` that cost `micros`; 0 for no lots. Both may be negative. */
export function averagePrice(market: UnitsOfMarket, micros: number, lots: number): number {
  if (lots === 0) return 0;
  const ticks = micros / (lots * market.microsPerTickLot);
  if (Number.isSafeInteger(ticks)) return fromSteps(ticks, market.tick);
  const price = (ticks * market.tick.multiplier) / market.tick.divisor;
  return Number(price.toPrecision(AVERAGE_DIGITS));
}
