/**
 * Per position the mark at which it may become due for liquidation, so that a tick finds the due
 * ones in one pass over one array per market.
 */
import type { Market } from "../state/market.js";
import type { VenueState } from "../state/venue.js";

export function refreshWatch(market: Market, row: number): void {
  const { positions, maintenance, microsPerTickLot: unit } = market;
  const lots = positions.lots(row);
  if (lots === 0) {
    positions.watch[row] = 0;
    return;
  }
  const cost = positions.cost(row);
  const margin = positions.margin(row);
  // One tick to the safe side of the result in doubles.
  positions.watch[row] =
    lots > 0
      ? Math.ceil(maintenance.watchLong(lots, cost, margin) / unit) + 1
      : -Math.max(0.5, Math.floor(maintenance.watchShort(lots, cost, margin) / unit) - 1);
}

/** Refreshes all positions that the command in progress has touched so far. */
export function refreshWatches(s: VenueState): void {
  const { undo } = s;
  for (let i = 0; i < undo.count; i++) {
    const number = undo.tables[i]!.market;
    if (number >= 0) refreshWatch(s.markets[number]!, undo.rows[i]!);
  }
}
