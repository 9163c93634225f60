/**
 * The book, from the engine's ladders. Converted levels are cached per market and depth until an event
 * changes the book, so a thousand readers of an unchanged book cost one conversion; seq and time are
 * always current. A changed book has a new array, so callers may cache a serialised text by the array.
 */
import { EVENT } from "@perpgate/engine";
import type { Ladder } from "@perpgate/engine/reading";
import type { Levels } from "@perpgate/link";
import type { Book } from "@perpgate/protocol";
import {
  AMENDED,
  ENDED,
  eventWords,
  PLACED,
  REDUCED,
  STOP_TRIGGERED,
  TRADED,
} from "../event-fields.js";
import type { MarketUnits } from "../listing/listing.js";
import type { Applied } from "../replica.js";
import { priceOf, sizeOf } from "./figures.js";
import { stateOf, type VenueSource, type ViewedMarket } from "./venue-source.js";

/** Valid until the next command. */
export interface BookLevels {
  readonly units: MarketUnits;
  /** Seq of the last command in the levels. */
  readonly seq: number;
  readonly block: number;
  readonly timeMs: number;
  readonly bids: Levels;
  readonly asks: Levels;
}

interface KeptLevels {
  readonly bids: number[][];
  readonly asks: number[][];
}

/** Depths cached per book. */
const KEPT_DEPTHS = 8;

export class BookView {
  /** By market, then by depth. */
  private readonly kept = new Map<number, Map<number, KeptLevels>>();
  private readonly changedAt = new Map<number, number>();

  constructor(private readonly source: VenueSource) {}

  /** Seq of the last command that may have changed the market's book; 0 if none since the start. */
  lastChange(market: number): number {
    return this.changedAt.get(market) ?? 0;
  }

  onCommand({ seq, events: { words, length } }: Applied): void {
    for (let at = 0; at < length; at += eventWords(words[at]!)) {
      const kind = words[at]!;
      if (kind === EVENT.OrderPlaced) this.changed(words[at + PLACED.market]!, seq);
      else if (kind === EVENT.Traded) this.changed(words[at + TRADED.market]!, seq);
      else if (kind === EVENT.OrderEnded) this.changed(words[at + ENDED.market]!, seq);
      else if (kind === EVENT.OrderAmended) this.changed(words[at + AMENDED.market]!, seq);
      else if (kind === EVENT.OrderReduced) this.changed(words[at + REDUCED.market]!, seq);
      // It may rest at its limit; `OrderRested` names no market.
      else if (kind === EVENT.StopTriggered) this.changed(words[at + STOP_TRIGGERED.market]!, seq);
    }
  }

  book({ units, market }: ViewedMarket, depth: number): Book {
    const { bids, asks } = this.levels(market, units, depth);
    const state = stateOf(this.source);
    return {
      symbol: units.symbol,
      seq: state.seq,
      block: state.totals.block,
      time: state.timeMs,
      bids,
      asks,
    };
  }

  private levels(market: ViewedMarket["market"], units: MarketUnits, depth: number): KeptLevels {
    const depths = this.depthsOf(market.number);
    const known = depths.get(depth);
    if (known !== undefined) return known;
    const levels = {
      bids: levelsOf(market.bids, units, depth),
      asks: levelsOf(market.asks, units, depth),
    };
    if (depths.size >= KEPT_DEPTHS) depths.clear();
    depths.set(depth, levels);
    return levels;
  }

  private depthsOf(market: number): Map<number, KeptLevels> {
    let depths = this.kept.get(market);
    if (depths === undefined) {
      depths = new Map();
      this.kept.set(market, depths);
    }
    return depths;
  }

  private changed(market: number, seq: number): void {
    this.changedAt.set(market, seq);
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

/** The whole book in the engine's integers, without a copy. */
export function bookLevels(source: VenueSource, { units, market }: ViewedMarket): BookLevels {
  const state = stateOf(source);
  return {
    units,
    seq: state.seq,
    block: state.totals.block,
    timeMs: state.timeMs,
    bids: market.bids,
    asks: market.asks,
  };
}
