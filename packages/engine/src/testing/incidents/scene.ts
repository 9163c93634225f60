/** Parts that the incident scenarios share: a thin market, gaps that the guard confirms, sums. */

import { BTC, type Listing, MICROS, SOL } from "../scenarios/listing.js";
import type { Trader } from "../scenarios/trader.js";
import type { Venue } from "../scenarios/venue.js";

/** A small coin: 20×, tiers of SOLUSD, open interest of at most $400,000, index of $100. */
export const THIN: Listing = {
  ...SOL,
  config: { ...SOL.config, symbol: "THINUSD", maxOpenInterestMicros: 400_000 * MICROS },
};
export { BTC };

/** What the fund may lose in an hour by default: 2 % of a million. */
export const BUDGET = 20_000;

/** A new price that stays: the guard holds it for two seconds, then accepts it. Ticks run on. */
export function gapsTo(venue: Venue, dollars: number, listing: Listing): void {
  for (let i = 0; i <= 11; i++) {
    venue.index(dollars, listing);
    for (const other of venue.listings) {
      if (other !== listing) venue.index(venue.market(other).index / other.ticksPerDollar, other);
    }
    venue.tick();
  }
}

/** Fund and the backstop's unrealised PnL over all markets, in dollars. */
export function fundValue(venue: Venue): number {
  let sum = venue.engine.state.totals.fund;
  for (const market of venue.engine.state.markets) {
    sum += market.backstopLots * market.mark * market.microsPerTickLot - market.backstopCost;
  }
  return sum / MICROS;
}

/** What the traders could call their own, in dollars. */
export function wealth(...traders: readonly Trader[]): number {
  return traders.reduce((sum, trader) => sum + trader.equityMicros(), 0) / MICROS;
}

/** A long and a short of the same notional, opened against each other at the index. */
export function opensBoth(
  venue: Venue,
  long: Trader,
  short: Trader,
  notional: number,
  leverage: number,
  listing: Listing,
): void {
  const price = venue.mark(listing);
  const margin = notional / leverage;
  long.buys("limit", { margin, leverage, price, market: listing });
  short.sells("market", { margin, leverage, market: listing });
}
