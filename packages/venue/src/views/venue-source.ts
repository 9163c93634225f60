/** What views read, and never write: the engine's state, the listing, the history. */
import type { Engine } from "@perpgate/engine";
import type { Market, VenueState } from "@perpgate/engine/reading";
import type { History } from "../history/history.js";
import type { Listing, MarketUnits } from "../listing/listing.js";

export interface VenueSource {
  readonly engine: Engine;
  readonly listing: Listing;
  readonly history: History;
}

/** A market with its units. */
export interface ViewedMarket {
  readonly units: MarketUnits;
  readonly market: Market;
}

export function stateOf(source: VenueSource): VenueState {
  return source.engine.state;
}

export function viewedMarkets({ engine, listing }: VenueSource): ViewedMarket[] {
  return listing.markets.flatMap((units) => {
    const market = engine.state.markets[units.number];
    return market === undefined ? [] : [{ units, market }];
  });
}

export function viewedMarket({ engine, listing }: VenueSource, symbol: string) {
  const units = listing.named(symbol);
  if (units === undefined) return undefined;
  const market = engine.state.markets[units.number];
  return market === undefined ? undefined : { units, market };
}

/** The units of a market by its number in an event or a row. */
export function unitsOf({ listing }: VenueSource, number: number): MarketUnits {
  const units = listing.markets[number];
  if (units === undefined) throw new RangeError(`market ${number} is not listed`);
  return units;
}
