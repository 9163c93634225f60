/**
 * What a fill does to a position (docs/engine.md, "Applying a fill to an account"): the closing part
 * first, then the opening part, every rounding against the trader. It does not ask who pays; that
 * the wallet carries an order is another question.
 */

import { divCeil, type Holding, mulDivCeil, mulDivFloor } from "@perpgate/protocol/core";
import { type MarketUnits, PPM } from "./market-units.js";

export const NO_HOLDING: Holding = { lots: 0, costMicros: 0, marginMicros: 0 };

/** 1 buys, −1 sells. */
export type Direction = 1 | -1;

export interface FillTerms {
  readonly direction: Direction;
  readonly lots: number;
  readonly ticks: number;
  readonly markTicks: number;
  readonly leverage: number;
  readonly feePpm: number;
}

export interface FillEffect {
  readonly after: Holding;
  readonly feeMicros: number;
  /** What the closing part earned. */
  readonly pnlMicros: number;
  /** What leaves the wallet, fee included; negative where money comes back. */
  readonly walletMicros: number;
}

export function closableLots(held: Holding, direction: Direction): number {
  return held.lots * direction < 0 ? Math.abs(held.lots) : 0;
}

export function applyFill(market: MarketUnits, held: Holding, terms: FillTerms): FillEffect {
  const closing = Math.min(terms.lots, closableLots(held, terms.direction));
  const closed = closePart(market, held, terms, closing);
  const opened = openPart(market, closed.after, terms, terms.lots - closing);
  return {
    after: opened.after,
    feeMicros: closed.feeMicros + opened.feeMicros,
    pnlMicros: closed.pnlMicros,
    walletMicros: closed.walletMicros + opened.walletMicros,
  };
}

function closePart(
  market: MarketUnits,
  held: Holding,
  { direction, ticks, feePpm }: FillTerms,
  lots: number,
): FillEffect {
  if (lots === 0) return { after: held, feeMicros: 0, pnlMicros: 0, walletMicros: 0 };
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
    walletMicros: feeMicros - released - pnlMicros,
  };
}

function openPart(
  market: MarketUnits,
  held: Holding,
  { direction, ticks, markTicks, leverage, feePpm }: FillTerms,
  lots: number,
): FillEffect {
  if (lots === 0) return { after: held, feeMicros: 0, pnlMicros: 0, walletMicros: 0 };
  const notional = lots * ticks * market.unit;
  // A fill beyond the mark begins with a loss, which is paid into the margin at once.
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
    walletMicros: margin + feeMicros,
  };
}
