/**
 * Liquidations of a tick. For one position: cancel its orders, close it in the book no worse than
 * bankruptcy, down to a lower tier if that makes it healthy; the backstop takes what the book does
 * not, and the other side of the market takes the rest (docs/engine.md, "Liquidating").
 */
import { mulDivCeil } from "@perpgate/protocol/integers";
import { LONG, SHORT } from "../commands.js";
import { PPM, SMALL_SHORTFALL_MICROS } from "../config.js";
import { emit } from "../events/event-log.js";
import { BACKSTOP_ACCOUNT } from "../events/event-table.js";
import { match } from "../orders/match.js";
import { closesPosition, idsOf, openOrdersOf } from "../orders/open-orders.js";
import { endOrders, settle } from "../orders/settle.js";
import { TAKER_BACKSTOP, TAKER_LIQUIDATION } from "../orders/taker.js";
import { END } from "../reasons.js";
import type { Selection } from "../selection.js";
import type { Market } from "../state/market.js";
import { blockOf } from "../state/positions.js";
import type { VenueState } from "../state/venue.js";
import type { WorkBudget } from "../work-budget.js";
import { reductionLots, worstReductionTicks } from "./backstop.js";
import { equityOf, maintenanceOf } from "./fill.js";
import { handOver } from "./hand-over.js";
import { settleFunding } from "./owed-funding.js";
import { forEachWatched, refreshWatches } from "./watch.js";

/** Above every account number: market × this + account orders pairs by market, then account. */
const ACCOUNTS = 2 ** 32;

/** Liquidates the positions that are due, the largest shortfall first, as far as the budget goes. */
export function runLiquidations(s: VenueState, budget: WorkBudget): void {
  const { due, work, unserved } = s.scratch;
  if (budget.left === 0 || work.isSpent || hasCanceledEnough(s)) return;
  unserved.clear();
  refreshWatches(s);
  due.begin(budget.left);
  for (const market of s.markets) {
    if (!s.isLive(market)) continue;
    s.focus = market.number;
    offerDue(market, due);
  }
  due.sort();
  for (let i = 0; i < due.count; i++) {
    const market = s.markets[Math.floor(due.tie(i) / ACCOUNTS)]!;
    s.focus = market.number;
    // An earlier liquidation may have traded with it.
    if (!isDue(market, due.item(i))) continue;
    if (serve(s, market, due.item(i), budget)) continue;
    if (due.weight(i) > SMALL_SHORTFALL_MICROS) unserved.add(market.number);
  }
  const isLeftOver = due.isFull && due.weight(due.count - 1) > SMALL_SHORTFALL_MICROS;
  if (s.rules.settlesJumps && !isLeftOver) noteSettled(s);
  // The order of deleveraging holds for this mark and funding, however this ended.
  for (const { positions } of s.markets) positions.changed = null;
}

/** Liquidates one position if the command may begin another; returns whether it is done with. */
function serve(s: VenueState, market: Market, row: number, budget: WorkBudget): boolean {
  const { work } = s.scratch;
  if (hasCanceledEnough(s)) return false;
  work.enter(market.number);
  // It waits: it must not be handed over before the book was asked.
  if (work.left === 0) return false;
  budget.take();
  liquidate(s, market, row);
  return !isDue(market, row);
}

/** Notes the mark in the markets of which no liquidation waits for a later tick, small ones apart. */
function noteSettled(s: VenueState): void {
  for (const market of s.markets) {
    if (!s.isLive(market) || s.scratch.unserved.has(market.number)) continue;
    if (market.settledMark !== market.mark) market.settledMark = market.mark;
  }
}

/** Whether the command begins no further liquidation. It finishes the account in turn, however many orders. */
function hasCanceledEnough({ scratch, rules }: VenueState): boolean {
  return scratch.liquidatedOrders >= rules.liquidationCancelsPerCommand;
}

/**
 * Offers the market's due positions by their shortfall, maintenance − equity. One pass over the
 * watches; only a position whose shortfall may be among the largest is computed exactly.
 */
function offerDue(market: Market, due: Selection): void {
  const { positions, maintenance } = market;
  const { held, longWatch, sizeBounds } = positions;
  const firstTie = market.number * ACCOUNTS;
  // Beyond its watch a position's shortfall grows by at most this per lot and tick: a long's equity
  // falls with the mark, but its maintenance does, too.
  const unit = market.microsPerTickLot * (1 + 1e-9);
  const longSlope = unit * (1 - maintenance.lowestPpm / PPM);
  const shortSlope = unit * (1 + maintenance.highestPpm / PPM);
  let floor = due.floor - 2;
  forEachWatched(market, (watches, from, to, dueFrom, maxBeyond) => {
    const slope = watches === longWatch ? longSlope : shortSlope;
    // None of the block can be among the largest.
    if (sizeBounds[blockOf(from)]! * maxBeyond * slope < floor) return true;
    let found = false;
    for (let row = from; row < to; row++) {
      const beyond = watches[row]! - dueFrom;
      // True for most rows, due or not, once enough of them are: a branch that is predicted well.
      if (Math.abs(held[row]!) * beyond * slope < floor) continue;
      if (beyond < 0) continue;
      found = true;
      const shortfall = maintenanceOf(market, row) - equityOf(market, row);
      if (shortfall < 0) continue;
      due.offer(shortfall, firstTie + positions.account(row), row);
      floor = due.floor - 2;
    }
    return found;
  });
}

/** Accounts whose equity is at or below maintenance, ascending. */
export function accountsDue(market: Market): number[] {
  const accounts: number[] = [];
  const { positions } = market;
  forEachWatched(market, (watches, from, to, dueFrom) => {
    let found = false;
    for (let row = from; row < to; row++) {
      if (watches[row]! < dueFrom) continue;
      found = true;
      if (isDue(market, row)) accounts.push(positions.account(row));
    }
    return found;
  });
  return accounts.sort((a, b) => a - b);
}

function isDue(market: Market, row: number): boolean {
  return market.positions.lots(row) !== 0 && equityOf(market, row) <= maintenanceOf(market, row);
}

function liquidate(s: VenueState, market: Market, row: number): void {
  market.positions.table.touch(row);
  settleFunding(s, market, row);
  // Those that close the position protect what may be left; `settle` ends them if nothing is.
  const others = openOrdersOf(s, market, row).filter((each) => !closesPosition(s.orders, each));
  const { endedBySettle } = s.scratch;
  const canceled = endOrders(s, idsOf(s.orders, others), END.liquidation);
  // In a market that is being made reduce-only the first end takes the others with it.
  s.scratch.liquidatedOrders += canceled + s.scratch.endedBySettle - endedBySettle;
  while (s.scratch.work.left > 0 && isDue(market, row)) liquidationRound(s, market, row);
  settle(s, market, row);
}

function liquidationRound(s: VenueState, market: Market, row: number): void {
  const { positions } = market;
  const { taker } = s.scratch;
  const account = positions.account(row);
  const side = positions.lots(row) > 0 ? SHORT : LONG;
  taker.begin(TAKER_LIQUIDATION, side, row, account, 0);
  taker.lotsLeft = targetLots(s, market, row);
  match(s, market, taker);

  const fullFee = mulDivCeil(taker.filledMicros, s.rules.liquidationFeePpm, PPM);
  let feeMicros = 0;
  let backstopLots = 0;
  let deleveragedLots = 0;
  let dustMicros = 0;
  if (positions.lots(row) === 0) {
    const margin = positions.margin(row);
    feeMicros = Math.min(fullFee, margin);
    s.addMargin(market, row, -margin);
    s.totals.fund += feeMicros;
    s.addWallet(account, margin - feeMicros);
  } else if (taker.lotsLeft > 0 && taker.stopReason !== END.fill_limit && isDue(market, row)) {
    const held = Math.abs(positions.lots(row));
    backstopLots = handOver(s, market, row, side, taker.lotsLeft);
    deleveragedLots = held - Math.abs(positions.lots(row)) - backstopLots;
    if (positions.lots(row) === 0) {
      dustMicros = positions.margin(row);
      s.addMargin(market, row, -dustMicros);
      s.totals.fund += dustMicros;
    }
  } else {
    const spare = equityOf(market, row) - maintenanceOf(market, row) - 1;
    feeMicros = Math.min(fullFee, Math.max(0, Math.min(spare, positions.margin(row))));
    s.addMargin(market, row, -feeMicros);
    s.totals.fund += feeMicros;
  }
  emit.Liquidated(s.events, {
    account,
    market: market.number,
    closedLots: taker.filledLots,
    feeMicros,
    backstopLots,
    deleveragedLots,
    dustMicros,
  });
}

/** Lots to close: down to the highest lower tier that would leave it healthy, else all. */
function targetLots(s: VenueState, market: Market, row: number): number {
  const lots = Math.abs(market.positions.lots(row));
  const notional = market.notional(lots);
  const equity = equityOf(market, row);
  const { bounds } = market.maintenance;
  for (let i = bounds.length - 1; i >= 0; i--) {
    const bound = bounds[i]!;
    if (bound >= notional) continue;
    const fee = mulDivCeil(notional - bound, s.rules.liquidationFeePpm, PPM);
    if (equity - fee > market.maintenance.of(bound)) {
      return lots - Math.floor(bound / market.markUnit);
    }
  }
  return lots;
}

/** Lets the backstop reduce its position in the book. */
export function reduceBackstop(s: VenueState, market: Market): void {
  if (market.backstopLots === 0) return;
  s.focus = market.number;
  const { taker, work } = s.scratch;
  work.enter(market.number);
  const side = market.backstopLots > 0 ? SHORT : LONG;
  taker.begin(TAKER_BACKSTOP, side, -1, BACKSTOP_ACCOUNT, 0);
  taker.lotsLeft = reductionLots(market);
  taker.limitTicks = worstReductionTicks(s, market, side);
  match(s, market, taker);
}
