/**
 * The effect of a fill on a position (docs/engine.md, "Applying a fill to an account"): the closing
 * part first, then the opening part, every rounding against the trader. Also maintenance margin and
 * liquidation price ("Account, position, order").
 */

import {
  divCeil,
  type Holding,
  liquidationMark,
  mulDivCeil,
  mulDivFloor,
  PPM,
} from "@perpgate/protocol/core";
import type { MarketInUnits } from "./market-units.js";

export const NO_HOLDING: Holding = { lots: 0, costMicros: 0, marginMicros: 0 };

/** 1 buys, −1 sells. */
export type Direction = 1 | -1;

interface FillTerms {
  readonly direction: Direction;
  readonly lots: number;
  readonly ticks: number;
  readonly markTicks: number;
  readonly leverage: number;
  readonly feePpm: number;
}

interface FillEffect {
  readonly after: Holding;
  readonly feeMicros: number;
  /** Realised by the closing part. */
  readonly pnlMicros: number;
  /** With which the opening part begins, against the mark. */
  readonly lossMicros: number;
  /** Debit of the wallet, fee included; negative for a credit. */
  readonly walletMicros: number;
}

const NO_EFFECT = { feeMicros: 0, pnlMicros: 0, lossMicros: 0, walletMicros: 0 };

export function closableLots(held: Holding, direction: Direction): number {
  return held.lots * direction < 0 ? Math.abs(held.lots) : 0;
}

export function applyFill(market: MarketInUnits, held: Holding, terms: FillTerms): FillEffect {
  const closing = Math.min(terms.lots, closableLots(held, terms.direction));
  const closed = closePart(market, held, terms, closing);
  const opened = openPart(market, closed.after, terms, terms.lots - closing);
  return {
    after: opened.after,
    feeMicros: closed.feeMicros + opened.feeMicros,
    pnlMicros: closed.pnlMicros,
    lossMicros: opened.lossMicros,
    walletMicros: closed.walletMicros + opened.walletMicros,
  };
}

function closePart(
  market: MarketInUnits,
  held: Holding,
  { direction, ticks, feePpm }: FillTerms,
  lots: number,
): FillEffect {
  if (lots === 0) return { ...NO_EFFECT, after: held };
  const size = Math.abs(held.lots);
  const cost = Math.abs(held.costMicros);
  const proceeds = lots * ticks * market.unit;
  const released = mulDivFloor(held.marginMicros, lots, size);
  const removed = held.lots > 0 ? mulDivCeil(cost, lots, size) : mulDivFloor(cost, lots, size);
  const pnlMicros = held.lots > 0 ? proceeds - removed : removed - proceeds;
  const feeMicros = mulDivCeil(proceeds, feePpm, PPM);
  return {
    after: {
      lots: held.lots + direction * lots,
      costMicros: held.costMicros + direction * removed,
      marginMicros: held.marginMicros - released,
    },
    feeMicros,
    pnlMicros,
    lossMicros: 0,
    walletMicros: feeMicros - released - pnlMicros,
  };
}

function openPart(
  market: MarketInUnits,
  held: Holding,
  { direction, ticks, markTicks, leverage, feePpm }: FillTerms,
  lots: number,
): FillEffect {
  if (lots === 0) return { ...NO_EFFECT, after: held };
  const notional = lots * ticks * market.unit;
  // A fill worse than the mark starts with a loss, which is added to the margin.
  const loss = Math.max(0, direction * (ticks - markTicks) * lots * market.unit);
  const margin = divCeil(notional, leverage) + loss;
  const feeMicros = mulDivCeil(notional, feePpm, PPM);
  return {
    after: {
      lots: held.lots + direction * lots,
      costMicros: held.costMicros + direction * notional,
      marginMicros: held.marginMicros + margin,
    },
    feeMicros,
    pnlMicros: 0,
    lossMicros: loss,
    walletMicros: margin + feeMicros,
  };
}

/** Whether a position is liquidated before the mark reaches a stop at this price. */
export function isBeyondLiquidation(
  stop: number | undefined,
  liquidation: number | null | undefined,
  direction: Direction,
): boolean {
  if (stop === undefined || liquidation === null || liquidation === undefined) return false;
  return direction > 0 ? stop <= liquidation : stop >= liquidation;
}

/** The mark at which the position is liquidated, in ticks; null if there is none. */
export function liquidationTicks(market: MarketInUnits, held: Holding): number | null {
  return liquidationMark(held, market.unit, (micros) => market.maintenance.of(micros));
}
