/** The data of the depth chart: its price range, and cumulative sizes per side. */

import type { LevelList } from "./aggregate.js";

interface DepthRange {
  readonly low: number;
  readonly high: number;
  readonly middle: number;
}

/** The largest distance from the middle, as a fraction of the price. */
const WIDEST = 0.02;
const MAX_POINTS = 600;

/** As wide as the shorter side, so that the sides are comparable; undefined for an empty book. */
export function depthRange(bids: LevelList, asks: LevelList): DepthRange | undefined {
  const bestBid = bids.ticks[0] ?? 0;
  const bestAsk = asks.ticks[0] ?? 0;
  if (bids.count === 0 && asks.count === 0) return undefined;
  const middle = bids.count === 0 ? bestAsk : asks.count === 0 ? bestBid : (bestBid + bestAsk) / 2;
  const below = bids.count === 0 ? 0 : middle - bids.ticks[bids.count - 1]!;
  const above = asks.count === 0 ? 0 : asks.ticks[asks.count - 1]! - middle;
  const shorter = below > 0 && above > 0 ? Math.min(below, above) : Math.max(below, above);
  const reach = Math.max(2, Math.min(middle * WIDEST, shorter));
  return { low: Math.max(1, middle - reach), high: middle + reach, middle };
}

interface CurvePoint {
  readonly ticks: number;
  readonly sumLots: number;
}

export interface Curve {
  /** From the best price outward. */
  readonly points: readonly CurvePoint[];
  /** Where the curve ends, in ticks. */
  readonly edge: number;
  /** All lots in the range. */
  readonly total: number;
  /** Lots from the best price to this one. */
  at(ticks: number): number;
}

/** Cumulative sizes from the best price to the edge of the range, at most one point per pixel. */
export function curveOf(levels: LevelList, edge: number): Curve {
  const all: CurvePoint[] = [];
  const best = levels.ticks[0] ?? edge;
  const isBid = edge < best;
  const width = Math.abs(edge - best) / MAX_POINTS;
  let sumLots = 0;
  for (let at = 0; at < levels.count; at++) {
    const ticks = levels.ticks[at]!;
    if (isBid ? ticks < edge : ticks > edge) break;
    sumLots += levels.lots[at]!;
    const last = all.at(-1);
    if (last !== undefined && Math.abs(ticks - last.ticks) < width && at < levels.count - 1) {
      all[all.length - 1] = { ticks: last.ticks, sumLots };
    } else all.push({ ticks, sumLots });
  }
  return {
    points: all,
    edge,
    total: sumLots,
    at: (ticks) =>
      all.findLast((point) => (isBid ? point.ticks >= ticks : point.ticks <= ticks))?.sumLots ?? 0,
  };
}
