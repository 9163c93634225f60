/**
 * Per position the mark at which it may become due for liquidation, so that a tick finds the due
 * ones in one pass over one array per market. The pass may find too many, never too few: the exact
 * test of each follows.
 *
 * Funding moves these marks without touching a row, so a watch is kept relative to the market's
 * cumulative funding F at a base of its own. When F is d ticks above the base, the mark at which a
 * long is due lies between d and d / (1 − r) higher, that of a short between d / (1 + r) and d
 * higher, where r is the highest rate of maintenance. The side that finds more counts; the
 * difference is what `forEachWatched` finds in excess. When it exceeds 0.05 % of the mark, the
 * watches move to a new base, a slice per tick: rows below `rewatched` have `nextWatchBase`, the
 * others `watchBase`.
 */
import { PPM } from "../config.js";
import type { Market } from "../state/market.js";
import type { VenueState } from "../state/venue.js";
import { fundingOwed } from "./owed-funding.js";

/** Added to every watch, in ticks, so that its sign can tell the side. */
const ORIGIN = 2 ** 40;

/** The watch of a short that may be due at every mark. */
export const EVERY_MARK = -0.5;

/** Rows that one tick moves to a new base, per market. */
export const REWATCH_SLICE = 2_048;

/** Part of the mark by which watches may be off before they are moved to a new base. */
const MAX_SLACK = 1 / 2_000;

export function refreshWatch(market: Market, row: number): void {
  const { positions, maintenance, microsPerTickLot: unit } = market;
  const lots = positions.lots(row);
  const cost = positions.cost(row);
  const settled = positions.settledFunding(row) + positions.settledFundingBillionths(row) / 1e9;
  positions.hold(row, lots, cost, positions.margin(row) + lots * settled);
  if (lots === 0) {
    positions.watch[row] = 0;
    return;
  }
  // One micro less, because what is owed later is rounded up.
  const margin = positions.margin(row) - fundingOwed(market, row) - 1;
  const since = fundingSince(market, row);
  const rate = maintenance.highestPpm / PPM;
  // One tick to the safe side of the result in doubles.
  if (lots > 0) {
    const due = Math.ceil(maintenance.watchLong(lots, cost, margin) / unit) + 1;
    positions.watch[row] = ORIGIN + due - Math.min(since, since / (1 - rate));
  } else {
    const due = Math.floor(maintenance.watchShort(lots, cost, margin) / unit) - 1;
    const watch = ORIGIN + due - Math.max(since, since / (1 + rate));
    positions.watch[row] = -Math.max(-EVERY_MARK, watch);
  }
}

/** Refreshes all positions that the command in progress has touched so far. */
export function refreshWatches(s: VenueState): void {
  const { undo } = s;
  for (let i = 0; i < undo.count; i++) {
    const number = undo.tables[i]!.market;
    if (number >= 0) refreshWatch(s.markets[number]!, undo.rows[i]!);
  }
}

/** Computes all watches of a market from its rows. */
export function rebuildWatches(market: Market): void {
  const { positions } = market;
  positions.watchBase = cumulativeFunding(market);
  positions.rewatched = 0;
  for (let row = 0; row < positions.table.rows; row++) refreshWatch(market, row);
}

/**
 * Calls back for every row that may be due at the present mark and funding, with the ticks by which
 * the mark is beyond its watch.
 */
export function forEachWatched(
  market: Market,
  visit: (row: number, beyondTicks: number) => void,
): void {
  const { positions } = market;
  const { watch, rewatched } = positions;
  const { rows } = positions.table;
  for (let from = 0; from < rows; ) {
    const to = from < rewatched ? Math.min(rewatched, rows) : rows;
    const longFrom = longWatchFrom(market, from);
    const shortTo = shortWatchTo(market, from);
    for (let row = from; row < to; row++) {
      const at = watch[row]!;
      if (at > 0) {
        if (at >= longFrom) visit(row, at - longFrom);
      } else if (at < 0 && -at <= shortTo) {
        visit(row, shortTo + at);
      }
    }
    from = to;
  }
}

/** A long may be due if its watch is at least this; the same for all rows with the row's base. */
export function longWatchFrom(market: Market, row: number): number {
  const since = fundingSince(market, row);
  return ORIGIN + market.mark - Math.max(since, since / (1 - market.maintenance.highestPpm / PPM));
}

/** A short may be due if the magnitude of its watch is at most this. */
export function shortWatchTo(market: Market, row: number): number {
  const since = fundingSince(market, row);
  return ORIGIN + market.mark - Math.min(since, since / (1 + market.maintenance.highestPpm / PPM));
}

/** Moves a slice of the watches to a new base, if the present one has become too loose. */
export function advanceWatches(market: Market): void {
  const { positions } = market;
  const { rows } = positions.table;
  if (positions.rewatched === 0) {
    const rate = market.maintenance.highestPpm / PPM;
    const moved = Math.abs(cumulativeFunding(market) - positions.watchBase);
    if (!((moved * rate) / (1 - rate) > market.markUnit * MAX_SLACK)) return;
    positions.nextWatchBase = cumulativeFunding(market);
  }
  const from = positions.rewatched;
  const to = Math.min(rows, from + REWATCH_SLICE);
  positions.rewatched = to;
  for (let row = from; row < to; row++) refreshWatch(market, row);
  if (to < rows) return;
  positions.watchBase = positions.nextWatchBase;
  positions.rewatched = 0;
}

/** How far the cumulative funding is above the base of the row's watch, in ticks. */
function fundingSince(market: Market, row: number): number {
  const { positions } = market;
  const base = row < positions.rewatched ? positions.nextWatchBase : positions.watchBase;
  return (cumulativeFunding(market) - base) / market.microsPerTickLot;
}

/** The market's cumulative funding in micros per lot, as a double. */
export function cumulativeFunding(market: Market): number {
  return market.cumulativeFunding + market.cumulativeFundingBillionths / 1e9;
}
