/**
 * Per position the mark at which it may become due for liquidation, so that a tick finds the due
 * ones in one pass over one array per market.
 */
import type { Market } from "../state/market.js";
import type { VenueState } from "../state/venue.js";

/** The watch of a short that may be due at every mark. */
export const EVERY_MARK = -0.5;

export function refreshWatch(market: Market, row: number): void {
  const { positions, maintenance, microsPerTickLot: unit } = market;
  const lots = positions.lots(row);
  positions.held[row] = lots;
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
      : -Math.max(-EVERY_MARK, Math.floor(maintenance.watchShort(lots, cost, margin) / unit) - 1);
}

/** Refreshes all positions that the command in progress has touched so far. */
export function refreshWatches(s: VenueState): void {
  const { undo } = s;
  for (let i = 0; i < undo.count; i++) {
    const number = undo.tables[i]!.market;
    if (number >= 0) refreshWatch(s.markets[number]!, undo.rows[i]!);
  }
}
