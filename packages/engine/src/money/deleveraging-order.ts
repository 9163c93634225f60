/**
 * Who is deleveraged first: the positions on the other side, by profit × leverage. Ranking all of
 * them for each liquidation would cost seconds, so the best few are found once by a pass over dense
 * arrays, and kept up to date with the positions that change while liquidations go on.
 */
import { mulDivCeil, mulDivFloor, mulExact } from "@perpgate/protocol/integers";
import type { Side } from "../commands.js";
import { Selection } from "../selection.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { VenueTables } from "../state/venue-tables.js";
import { equityOf } from "./fill.js";
import { cumulativeFunding, refreshWatches } from "./watch.js";

/** Positions ranked in one pass: more than a tick usually meets. */
const RANKED = 1_024;
const MAX_LEVERAGE_SCORE = 100_000;

interface Entry {
  readonly row: number;
  readonly account: number;
  readonly score: number;
}

export class DeleveragingOrder {
  /** Best first; complete down to `worst`. */
  private entries: Entry[] = [];
  private readonly entryOf = new Map<number, Entry>();
  /** The last of the ranked ones, if there were more; null if all are ranked. */
  private worst: Entry | null = null;
  /** The list of changed rows that it follows, and how many of them it has seen. */
  private changed: readonly number[] | null = null;
  private seen = 0;
  private readonly selection: Selection;

  /** `side` closes the liquidated position: a buy takes from longs, a sell from shorts. */
  constructor(
    private readonly s: VenueTables,
    private readonly market: Market,
    private readonly side: Side,
    ranked = RANKED,
  ) {
    this.selection = new Selection(ranked);
  }

  /** Brings the order up to date; what changes after it does not count until the next time. */
  begin(): void {
    const { positions } = this.market;
    if (positions.changed === null) positions.changed = [];
    if (this.changed === positions.changed) {
      for (; this.seen < this.changed.length; this.seen++) this.update(this.changed[this.seen]!);
      return;
    }
    this.changed = positions.changed;
    this.seen = positions.changed.length;
    this.entries = [];
    this.entryOf.clear();
    this.rankMore();
  }

  /** The row at that place of the order, from 0; NONE beyond the last. Places are asked for in turn. */
  at(place: number): number {
    if (place === this.entries.length && this.worst !== null) this.rankMore();
    return this.entries[place]?.row ?? NONE;
  }

  /** Ranks the best of the rows that have no entry, and appends them. */
  private rankMore(): void {
    refreshWatches(this.s);
    const { selection, market } = this;
    selection.begin(Number.POSITIVE_INFINITY);
    this.offerAll();
    selection.sort();
    for (let i = 0; i < selection.count; i++) {
      const row = selection.item(i);
      const entry = { row, account: market.positions.account(row), score: selection.weight(i) };
      this.entries.push(entry);
      this.entryOf.set(row, entry);
    }
    this.worst = selection.isFull ? this.entries[this.entries.length - 1]! : null;
  }

  /** One pass over the dense arrays; only scores that may be among the best are computed exactly. */
  private offerAll(): void {
    const { market, side, selection, entryOf } = this;
    const { positions, markUnit } = market;
    const { held, costs, worths } = positions;
    const { rows } = positions.table;
    const funding = cumulativeFunding(market);
    for (let row = 0; row < rows; row++) {
      const lots = held[row]!;
      if (lots * side <= 0) continue;
      const cost = costs[row]!;
      const pnl = lots * markUnit - cost;
      const equity = worths[row]! - lots * funding + pnl;
      if (!mayReach(selection.floor, pnl, Math.abs(cost), Math.abs(lots * markUnit), equity)) {
        continue;
      }
      if (entryOf.size > 0 && entryOf.has(row)) continue;
      selection.offer(deleveragingScore(market, row), positions.account(row), row);
    }
  }

  /** Moves a changed row to its new place. */
  private update(row: number): void {
    const { market, entries } = this;
    const old = this.entryOf.get(row);
    if (old !== undefined) {
      entries.splice(this.placeOf(old), 1);
      this.entryOf.delete(row);
    }
    if (market.positions.lots(row) * this.side <= 0) return;
    const account = market.positions.account(row);
    const entry = { row, account, score: deleveragingScore(market, row) };
    // Below the worst there may be others that are not ranked.
    if (this.worst !== null && isBefore(this.worst, entry)) return;
    entries.splice(this.placeOf(entry), 0, entry);
    this.entryOf.set(row, entry);
  }

  /** The place of an entry, or that of the first after it. */
  private placeOf(entry: Entry): number {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(this.entries[middle]!, entry)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.score > b.score || (a.score === b.score && a.account < b.account);
}

/**
 * Whether a position's score may be at least `floor`. The figures are doubles that may be off by a
 * few micros; the answer errs on the side of true.
 */
function mayReach(
  floor: number,
  pnl: number,
  cost: number,
  notional: number,
  equity: number,
): boolean {
  if (floor === Number.NEGATIVE_INFINITY) return true;
  if (pnl < -2) {
    // Profit and leverage are rounded down: a loss counts with one hundredth of leverage less.
    const leverage = Math.min(MAX_LEVERAGE_SCORE, (100 * notional) / Math.max(1, equity + 4)) - 1;
    return (
      (pnl * 1e6 * Math.max(0, leverage)) / Math.max(1, cost) >= floor - Math.abs(floor) * 1e-9
    );
  }
  const profit = (pnl + 4) * 1e6 * (1 + 1e-9);
  if (profit * MAX_LEVERAGE_SCORE < floor * cost) return false;
  return !(equity > 8 && profit * 100 * notional < floor * cost * (equity - 4));
}

export function deleveragingScore(market: Market, row: number): number {
  const { positions } = market;
  const cost = positions.cost(row);
  const marked = mulExact(positions.lots(row), market.markUnit);
  const pnl = marked - cost;
  const scale = Math.max(1, Math.abs(cost));
  // Floor, also for a loss.
  const profit =
    pnl >= 0 ? mulDivFloor(pnl, 1_000_000, scale) : 0 - mulDivCeil(-pnl, 1_000_000, scale);
  const equity = Math.max(1, equityOf(market, row));
  const notional = Math.abs(marked);
  // Compared first: of a bankrupt position above 90 million dollars the quotient is no safe integer.
  const isAtMost = notional >= (MAX_LEVERAGE_SCORE / 100) * equity;
  return profit * (isAtMost ? MAX_LEVERAGE_SCORE : mulDivFloor(100, notional, equity));
}
