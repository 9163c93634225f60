/**
 * The book, straight from the engine's ladders. Levels already turned into numbers are kept per
 * market until an event says that the book has changed, so a thousand readers of a quiet book cost
 * one conversion; the position and the time of an answer are always the present ones.
 */
import { EVENT } from "@perpgate/engine";
import { GLOBAL, type Ladder } from "@perpgate/engine/reading";
import type { Book } from "@perpgate/protocol";
import { ENDED, eventWords, PLACED, TRADED } from "../events/event-fields.js";
import type { MarketUnits } from "../listing/listing.js";
import type { Applied } from "../replica.js";
import { priceOf, sizeOf } from "./figures.js";
import { stateOf, type VenueSource, type ViewedMarket } from "./venue-source.js";

interface KeptLevels {
  bids: number[][];
  asks: number[][];
  /** Levels asked for when they were taken: fewer on a side means that the side ends there. */
  depth: number;
}

export class BookView {
  private readonly kept = new Map<number, KeptLevels>();
  private readonly changedAt = new Map<number, number>();

  constructor(private readonly source: VenueSource) {}

  /** Position of the last command that may have changed the market's book; 0 if none since start. */
  lastChange(market: number): number {
    return this.changedAt.get(market) ?? 0;
  }

  onCommand({ position, events: { words, length } }: Applied): void {
    for (let at = 0; at < length; at += eventWords(words[at]!)) {
      const kind = words[at]!;
      if (kind === EVENT.OrderPlaced) this.changed(words[at + PLACED.market]!, position);
      else if (kind === EVENT.Traded) this.changed(words[at + TRADED.market]!, position);
      else if (kind === EVENT.OrderEnded) this.changed(words[at + ENDED.market]!, position);
    }
  }

  book({ units, market }: ViewedMarket, depth: number): Book {
    let kept = this.kept.get(market.number);
    if (kept === undefined || kept.depth < depth) {
      kept = {
        bids: levelsOf(market.bids, units, depth),
        asks: levelsOf(market.asks, units, depth),
        depth,
      };
      this.kept.set(market.number, kept);
    }
    const state = stateOf(this.source);
    return {
      symbol: units.symbol,
      seq: state.position,
      block: state.global(GLOBAL.BLOCK),
      time: state.timeMs,
      bids: kept.depth === depth ? kept.bids : kept.bids.slice(0, depth),
      asks: kept.depth === depth ? kept.asks : kept.asks.slice(0, depth),
    };
  }

  private changed(market: number, position: number): void {
    this.changedAt.set(market, position);
    this.kept.delete(market);
  }
}

function levelsOf(ladder: Ladder, units: MarketUnits, depth: number): number[][] {
  const count = Math.min(depth, ladder.count);
  const levels: number[][] = new Array(count);
  for (let i = 0; i < count; i++) {
    levels[i] = [priceOf(units, ladder.ticksAt(i)), sizeOf(units, ladder.lotsAt(i))];
  }
  return levels;
}
