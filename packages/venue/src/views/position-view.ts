/** Open positions of an account, current or from a history row. */
import { type Market, settledFigures } from "@perpgate/engine/reading";
import type { Position } from "@perpgate/protocol";
import { averagePrice, fromMicros, liquidationMark } from "@perpgate/protocol/core";
import { priceOf, ratio, sideOf, sizeOf } from "./figures.js";
import { stateOf, type VenueSource, type ViewedMarket, viewedMarkets } from "./venue-source.js";

/** In the engine's integers. */
interface PositionFigures {
  readonly lots: number;
  readonly cost: number;
  readonly margin: number;
  readonly realized: number;
  readonly funding: number;
  readonly markTicks: number;
  readonly updatedAt: number;
}

export function positionsView(source: VenueSource, account: number): Position[] {
  return viewedMarkets(source).flatMap((viewed) => positionView(source, viewed, account) ?? []);
}

export function hasPosition(source: VenueSource, account: number): boolean {
  return stateOf(source).markets.some(({ positions }) => {
    const row = positions.rowOf(account);
    return row >= 0 && positions.lots(row) !== 0;
  });
}

export function positionView(
  source: VenueSource,
  viewed: ViewedMarket,
  account: number,
): Position | undefined {
  const { market } = viewed;
  const row = market.positions.rowOf(account);
  if (row < 0) return undefined;
  const { positions } = market;
  const lots = positions.lots(row);
  if (lots === 0) return undefined;
  // Funding that has accrued counts as paid, although the engine books it with the next change.
  const { costMicros, marginMicros, fundingMicros } = settledFigures(market, row);
  return positionOf(viewed, {
    lots,
    cost: costMicros,
    margin: marginMicros,
    realized: positions.realized(row),
    funding: fundingMicros,
    markTicks: market.mark,
    updatedAt: source.history.positionUpdatedAt(account, market.number),
  });
}

export function positionOf({ units, market }: ViewedMarket, figures: PositionFigures): Position {
  const { lots, cost, margin, realized, funding, markTicks, updatedAt } = figures;
  const liquidation = liquidationOf(market, lots, cost, margin);
  return {
    symbol: units.symbol,
    side: sideOf(lots),
    size: sizeOf(units, lots),
    avgEntry: averagePrice(units, cost, lots),
    markPrice: priceOf(units, markTicks),
    liquidationPrice: liquidation === null ? null : priceOf(units, liquidation),
    margin: fromMicros(margin),
    leverage: margin > 0 ? ratio(Math.abs(cost), margin) : 0,
    unrealizedPnl: fromMicros(lots * markTicks * units.microsPerTickLot - cost),
    realizedPnl: fromMicros(realized),
    fundingPaid: fromMicros(funding),
    updatedAt,
  };
}

/** The mark, in ticks, at which a position is due for liquidation; null if no mark ≥ 1 is. */
export function liquidationOf(
  market: Market,
  lots: number,
  cost: number,
  margin: number,
): number | null {
  const held = { lots, costMicros: cost, marginMicros: margin };
  return liquidationMark(held, market.microsPerTickLot, (micros) => market.maintenance.of(micros));
}
