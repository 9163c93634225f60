/** A position by the sampled mark, between two frames of the positions stream. */

import type { Position } from "@perpgate/protocol";
import { levelOf, type RiskLevel, ratioOf } from "../maths/position-risk.js";
import type { LiveMarks } from "./live-marks.js";
import type { MarketFeed } from "./market-feed.js";

export interface MarkSources {
  readonly marks: Pick<LiveMarks, "sample">;
  readonly marketFeed: Pick<MarketFeed, "view">;
}

export interface LivePosition {
  readonly mark: number;
  readonly unrealized: number;
  /** Of the margin. */
  readonly share: number;
  /** Maintenance margin over equity: liquidated at 1. */
  readonly ratio: number;
  /** From the mark to the liquidation price, as a share of the mark; null if there is none. */
  readonly distance: number | null;
  readonly level: RiskLevel;
}

export function livePosition({ marks, marketFeed }: MarkSources, position: Position): LivePosition {
  const { symbol, size, margin, markPrice, unrealizedPnl, liquidationPrice } = position;
  const mark = marks.sample.get().get(symbol) ?? markPrice;
  const unrealized = unrealizedPnl + size * (mark - markPrice);
  const units = marketFeed.view(symbol)?.units;
  const maintenance = (units?.maintenance.of(Math.round(Math.abs(size) * mark * 1e6)) ?? 0) / 1e6;
  const ratio = ratioOf(maintenance, margin + unrealized);
  return {
    mark,
    unrealized,
    share: margin > 0 ? unrealized / margin : 0,
    ratio,
    distance: liquidationPrice === null ? null : (liquidationPrice - mark) / mark,
    level: levelOf(ratio),
  };
}
