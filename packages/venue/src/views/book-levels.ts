/** The whole book in the engine's integers, without a copy: for whoever mirrors or packs it. */
import { GLOBAL } from "@perpgate/engine/reading";
import type { MarketUnits } from "../listing/listing.js";
import { stateOf, type VenueSource, type ViewedMarket } from "./venue-source.js";

/** One side in ticks and lots, best first; valid until the next command. */
export interface Levels {
  readonly count: number;
  ticksAt(index: number): number;
  lotsAt(index: number): number;
}

export interface BookLevels {
  readonly units: MarketUnits;
  /** Log position that the levels reflect. */
  readonly seq: number;
  readonly block: number;
  readonly timeMs: number;
  readonly bids: Levels;
  readonly asks: Levels;
}

export function bookLevels(source: VenueSource, { units, market }: ViewedMarket): BookLevels {
  const state = stateOf(source);
  return {
    units,
    seq: state.seq,
    block: state.global(GLOBAL.BLOCK),
    timeMs: state.timeMs,
    bids: market.bids,
    asks: market.asks,
  };
}
