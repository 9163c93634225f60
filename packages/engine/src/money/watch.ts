/**
 * Per position the mark at which it may become due for liquidation, of shorts with the other sign, so
 * that a tick finds the due ones in one pass over one array per side, from which it skips the blocks
 * that have none. The pass may find too many, never too few: the exact test of each follows.
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
import { blockOf, NO_WATCH, WATCH_BLOCK } from "../state/positions.js";
import type { VenueTables } from "../state/venue-tables.js";
import { fundingOwed } from "./owed-funding.js";

/** Rows that one tick moves to a new base, per market: whole blocks. */
const REWATCH_SLICE = 2_048;

/** Part of the mark by which watches may be off before they are moved to a new base. */
const MAX_SLACK = 1 / 2_000;

export function refreshWatch(market: Market, row: number): void {
  const { positions, maintenance, microsPerTickLot: unit } = market;
  const lots = positions.lots(row);
  const cost = positions.cost(row);
  const settled = positions.settledFunding(row) + positions.settledFundingBillionths(row) / 1e9;
  positions.hold(row, lots, cost, positions.margin(row) + lots * settled);
  if (lots === 0) {
    positions.setWatches(row, NO_WATCH, NO_WATCH);
    return;
  }
  // One micro less, because what is owed later is rounded up.
  const margin = positions.margin(row) - fundingOwed(market, row) - 1;
  const since = fundingSince(market, row);
  const rate = maintenance.highestPpm / PPM;
  // One tick to the safe side of the result in doubles.
  if (lots > 0) {
    const due = Math.ceil(maintenance.watchLong(lots, cost, margin) / unit) + 1;
    positions.setWatches(row, due - Math.min(since, since / (1 - rate)), NO_WATCH);
  } else {
    const due = Math.floor(maintenance.watchShort(lots, cost, margin) / unit) - 1;
    positions.setWatches(row, NO_WATCH, Math.max(since, since / (1 + rate)) - due);
  }
}

/** Refreshes all positions that the command in progress has touched so far. */
export function refreshWatches(s: VenueTables): void {
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
  positions.clearBounds(0, positions.table.rows);
  for (let row = 0; row < positions.table.rows; row++) refreshWatch(market, row);
}

/**
 * Calls back for every block of rows of one side of which some may be due at the present mark and
 * funding: the side's watches, the rows, the figure that the watch of a due position reaches, and how
 * far beyond it one may be. Where it returns false the bounds of the block are made exact, so that one
 * without due positions is skipped from then on.
 */
export function forEachWatched(
  market: Market,
  visit: (
    watches: Float64Array,
    from: number,
    to: number,
    dueFrom: number,
    maxBeyond: number,
  ) => boolean,
): void {
  const { positions } = market;
  const { longWatch, shortWatch, longBounds, shortBounds, rewatched } = positions;
  const { rows } = positions.table;
  let longFrom = longDueFrom(market, 0);
  let shortFrom = shortDueFrom(market, 0);
  for (let from = 0; from < rows; from += WATCH_BLOCK) {
    // Slices are whole blocks.
    if (from === rewatched) {
      longFrom = longDueFrom(market, from);
      shortFrom = shortDueFrom(market, from);
    }
    const longs = longBounds[blockOf(from)]! - longFrom;
    const shorts = shortBounds[blockOf(from)]! - shortFrom;
    if (longs < 0 && shorts < 0) continue;
    const to = Math.min(rows, from + WATCH_BLOCK);
    const keepsLongs = longs < 0 || visit(longWatch, from, to, longFrom, longs);
    const keepsShorts = shorts < 0 || visit(shortWatch, from, to, shortFrom, shorts);
    if (!keepsLongs || !keepsShorts) positions.tightenBounds(from, to);
  }
}

/** A long may be due if its watch is at least this; the same for all rows with the row's base. */
function longDueFrom(market: Market, row: number): number {
  const since = fundingSince(market, row);
  return market.mark - Math.max(since, since / (1 - market.maintenance.highestPpm / PPM));
}

/** The same for a short, whose watch has the other sign. */
function shortDueFrom(market: Market, row: number): number {
  const since = fundingSince(market, row);
  return Math.min(since, since / (1 + market.maintenance.highestPpm / PPM)) - market.mark;
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
  // Bounds in terms of the old base mean nothing.
  positions.clearBounds(from, to);
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
