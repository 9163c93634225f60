/**
 * Refreshes, for every position a command touched, the mark at which it may become due for
 * liquidation, so that a tick finds the due ones in one pass over one array per market.
 */
import type { Market } from "../state/market.js";
import { POSITION, POSITION_WORDS } from "../state/positions.js";
import type { VenueState } from "../state/venue.js";

export function refreshWatch(market: Market, row: number): void {
  const data = market.positions.table.data;
  const at = row * POSITION_WORDS;
  const lots = data[at + POSITION.LOTS]!;
  market.positions.watch[row] = 0;
  if (lots === 0) return;
  const cost = data[at + POSITION.COST]!;
  const margin = data[at + POSITION.MARGIN]!;
  const unit = market.microsPerTickLot;
  if (lots > 0) {
    const price = market.maintenance.watchLong(lots, cost, margin) / unit;
    market.positions.watch[row] = Math.ceil(price) + 1;
  } else {
    const price = market.maintenance.watchShort(lots, cost, margin) / unit;
    market.positions.watch[row] = -Math.max(0.5, Math.floor(price) - 1);
  }
}

/** All positions that the command under way has touched so far. */
export function refreshWatches(s: VenueState): void {
  const { undo } = s;
  for (let i = 0; i < undo.count; i++) {
    const number = undo.tables[i]!.market;
    if (number >= 0) refreshWatch(s.markets[number]!, undo.rows[i]!);
  }
}
