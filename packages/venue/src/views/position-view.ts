/** Open positions of an account. */
import { equityOf, POSITION, POSITION_WORDS } from "@perpgate/engine/reading";
import type { Position } from "@perpgate/protocol";
import { averagePrice, fromMicros, priceOf, ratio, sideOf, sizeOf } from "./figures.js";
import { liquidationTicks } from "./liquidation-price.js";
import { type VenueSource, type ViewedMarket, viewedMarkets } from "./venue-source.js";

export function positionsView(source: VenueSource, account: number): Position[] {
  return viewedMarkets(source).flatMap((viewed) => positionView(source, viewed, account) ?? []);
}

export function positionView(
  source: VenueSource,
  { units, market }: ViewedMarket,
  account: number,
): Position | undefined {
  const row = market.positions.rowOf(account);
  if (row < 0) return undefined;
  const { data } = market.positions.table;
  const at = row * POSITION_WORDS;
  const lots = data[at + POSITION.LOTS]!;
  if (lots === 0) return undefined;
  const cost = data[at + POSITION.COST]!;
  const margin = data[at + POSITION.MARGIN]!;
  const liquidation = liquidationTicks(market, row);
  return {
    symbol: units.symbol,
    side: sideOf(lots),
    size: sizeOf(units, lots),
    avgEntry: averagePrice(units, cost, lots),
    markPrice: priceOf(units, market.mark),
    liquidationPrice: liquidation === null ? null : priceOf(units, liquidation),
    margin: fromMicros(margin),
    leverage: margin > 0 ? ratio(Math.abs(cost), margin) : 0,
    unrealizedPnl: fromMicros(equityOf(market, row) - margin),
    realizedPnl: fromMicros(data[at + POSITION.REALIZED]!),
    fundingPaid: fromMicros(data[at + POSITION.FUNDING]!),
    updatedAt: source.history.positionUpdatedAt(account, market.number),
  };
}
