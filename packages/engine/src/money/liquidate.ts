/**
 * Liquidations of a tick. For one position: cancel its orders, close it in the book no worse than
 * bankruptcy, down to a lower tier if that makes it healthy; the backstop takes what the book does
 * not, and the other side of the market takes the rest (docs/engine.md, "Liquidating").
 */
import { divFloor, mulDivCeil } from "@perpgate/protocol/integers";
import { LONG, SHORT } from "../commands.js";
import { BEHIND_PER_MARKET, OVERDUE_MS, PPM, SMALL_SHORTFALL_MICROS } from "../config.js";
import { emit } from "../events/event-log.js";
import { BACKSTOP_ACCOUNT } from "../events/event-table.js";
import { match } from "../orders/match.js";
import { closesPosition, idsOf, openOrdersOf } from "../orders/open-orders.js";
import { endOrders, settle } from "../orders/settle.js";
import { TAKER_BACKSTOP, TAKER_LIQUIDATION } from "../orders/taker.js";
import { END } from "../reasons.js";
import type { Selection } from "../selection.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import { blockOf } from "../state/positions.js";
import type { VenueState } from "../state/venue.js";
import { WorkBudget } from "../work-budget.js";
import { reductionLots, worstReductionTicks } from "./backstop.js";
import { equityOf, maintenanceOf } from "./fill.js";
import { handOver } from "./hand-over.js";
import { Liquidations } from "./liquidations.js";
import { settleFunding } from "./owed-funding.js";
import { forEachWatched, refreshWatches } from "./watch.js";

/** Above every account number: market × this + account orders pairs by market, then account. */
const ACCOUNTS = 2 ** 32;
/** Words per entry of a list of `VenueState.behind`: account, since when, and later turns that it has had. */
const BEHIND_WORDS = 3;

/** Must precede the liquidations of a tick. `budget`: what they share with stops, in version 2. */
export function beginLiquidations(s: VenueState, budget: WorkBudget): void {
  const { liquidations } = s.scratch;
  const most = s.rules.liquidationsAndStopsPerCommand;
  liquidations.length = s.rules.takesTurns ? s.markets.length : 1;
  for (let i = 0; i < liquidations.length; i++) {
    const queue = liquidations[i] ?? new Liquidations();
    queue.first = s.rules.takesTurns ? new WorkBudget(most) : budget;
    queue.later = new WorkBudget(most);
    liquidations[i] = queue;
  }
}

/**
 * Gives the positions that are due a turn each, the largest shortfall first, then those that wait for a later
 * one, as far as budget and units go. In version 2 a turn has no limit, so it is the only one.
 */
export function runLiquidations(s: VenueState): void {
  const { liquidations, work } = s.scratch;
  for (const { due, firstTurns } of liquidations) {
    due.begin(0);
    firstTurns.length = 0;
  }
  if (work.isSpent) return;
  forgetParts(s);
  refreshWatches(s);
  if (s.rules.takesTurns) {
    for (const market of s.markets) chooseDue(s, liquidations[market.number]!, [market]);
  } else chooseDue(s, liquidations[0]!, s.markets);
  giveTurns(s);
}

/** Chooses those with the largest shortfalls, as many as the budget has left. */
function chooseDue(
  s: VenueState,
  { due, firstTurns, first }: Liquidations,
  markets: readonly Market[],
): void {
  if (first.left === 0) return;
  due.begin(first.left);
  for (const market of markets) {
    if (!s.isLive(market)) continue;
    s.focus = market.number;
    offerDue(s, market, due);
  }
  due.sort();
  for (let i = 0; i < due.count; i++) firstTurns.push(i);
}

/** Version 3: the end of a tick's service. What other phases have left of the units is for more turns. */
export function endLiquidations(s: VenueState): void {
  giveTurns(s);
  for (const market of s.markets) {
    if (!s.isLive(market) || isAnyLeft(s, market)) continue;
    if (market.settledMark !== market.mark) market.settledMark = market.mark;
  }
}

/** Whether a position of the market is due that orders have to wait for. */
function isAnyLeft(s: VenueState, market: Market): boolean {
  const { due, firstTurns } = s.scratch.liquidations[market.number]!;
  // Nothing was chosen where an earlier run, of a funding hour, had used the budget up.
  if (due.isFull && (due.count === 0 || isLarge(due.weight(due.count - 1)))) return true;
  return firstTurns.some((i) => isLarge(due.weight(i))) || isAnyBehind(s, market);
}

/** Orders wait for it after a jump. */
function isLarge(shortfall: number): boolean {
  return shortfall > SMALL_SHORTFALL_MICROS;
}

function giveTurns(s: VenueState): void {
  for (const [market, queue] of s.scratch.liquidations.entries()) giveFirstTurns(s, queue, market);
  if (!s.rules.takesTurns) return;
  for (const market of s.markets) {
    if (!s.isLive(market)) continue;
    s.focus = market.number;
    giveLaterTurns(s, market);
  }
}

/** The parts in which accounts are deleveraged hold for one mark and funding. */
export function forgetParts({ markets }: VenueState): void {
  for (const { positions } of markets) positions.changed = null;
}

/** First turns of the chosen positions; those that the units do not reach stay in `firstTurns`. */
function giveFirstTurns(
  s: VenueState,
  { due, firstTurns, first }: Liquidations,
  number: number,
): void {
  const { work } = s.scratch;
  const { unitsPerFirstTurn, takesTurns } = s.rules;
  const added: number[] = [];
  let waiting = 0;
  for (const i of firstTurns) {
    const market = s.markets[Math.floor(due.tie(i) / ACCOUNTS)]!;
    const row = due.item(i);
    s.focus = market.number;
    // An earlier liquidation may have traded with it.
    if (!isDue(market, row)) continue;
    work.enter(market.number);
    const orders = market.positions.openOrders(row) * s.rules.unitsPerCancel;
    if (takesTurns && orders > unitsPerFirstTurn && goesBehind(s, market, row, added)) continue;
    // It waits: it must not be handed over before the book was asked.
    if (work.left === 0 || first.left === 0 || hasCanceledEnough(s)) {
      firstTurns[waiting++] = i;
      continue;
    }
    first.take();
    liquidate(s, market, row, unitsPerFirstTurn, false);
    if (!takesTurns || !isDue(market, row)) continue;
    // Where the units of the market have ended before those of its turn, it has not had all of it.
    if (work.left === 0) firstTurns[waiting++] = i;
    else goesBehind(s, market, row, added);
  }
  firstTurns.length = waiting;
  if (added.length > 0) setBehind(s, number, [...(s.behind[number] ?? []), ...added]);
}

/** Notes in `added` that a position of the market is to wait behind the others, if there is room. */
function goesBehind(s: VenueState, market: Market, row: number, added: number[]): boolean {
  const before = s.behind[market.number]?.length ?? 0;
  if (before + added.length >= BEHIND_WORDS * BEHIND_PER_MARKET) return false;
  added.push(market.positions.account(row), s.timeMs, 0);
  return true;
}

function setBehind(s: VenueState, market: number, line: readonly number[]): void {
  s.behind = s.markets.map(({ number }) => (number === market ? line : s.behind[number]) ?? []);
}

/** An entry of a list of `VenueState.behind` that is among the next. */
interface Waiting {
  /** Where it is in the list. */
  readonly at: number;
  /** Later turns that it has had. */
  turns: number;
  /** Its shortfall, divided by its turns and one more. */
  weight: number;
}

/**
 * Turns for those that wait behind the others, shared out by shortfall. They are counted apart from first
 * turns, so that these, however many, do not hold them up.
 */
function giveLaterTurns(s: VenueState, market: Market): void {
  const { work, liquidations } = s.scratch;
  const { later, behind } = liquidations[market.number]!;
  const line = s.behind[market.number] ?? [];
  work.enter(market.number);
  if (line.length === 0 || work.left === 0 || later.left === 0) return;
  const ended = new Set<number>();
  behind.begin(later.left);
  for (let at = 0; at < line.length; at += BEHIND_WORDS) {
    const weight = weightOf(market, line[at]!, line[at + 2]!);
    if (weight < 0) ended.add(at);
    else behind.offer(weight, line[at]!, at);
  }
  behind.sort();
  const next: Waiting[] = [];
  for (let i = 0; i < behind.count; i++) {
    const at = behind.item(i);
    next.push({ at, turns: line[at + 2]!, weight: behind.weight(i) });
  }
  const turns = new Map<number, number>();
  const isBefore = (one: Waiting, other: Waiting): boolean =>
    one.weight > other.weight || (one.weight === other.weight && line[one.at]! < line[other.at]!);
  while (next.length > 0 && work.left > 0 && later.left > 0) {
    const first = next.shift()!;
    const account = line[first.at]!;
    if (weightOf(market, account, 0) >= 0) {
      later.take();
      const isOverdue = s.timeMs - line[first.at + 1]! >= OVERDUE_MS;
      const row = market.positions.rowOf(account);
      liquidate(s, market, row, s.rules.unitsPerTurn, isOverdue);
    }
    first.weight = weightOf(market, account, first.turns + 1);
    if (first.weight < 0) {
      ended.add(first.at);
      continue;
    }
    // It has not had all of its turn.
    if (work.left === 0) break;
    turns.set(first.at, ++first.turns);
    const place = next.findIndex((other) => isBefore(first, other));
    next.splice(place < 0 ? next.length : place, 0, first);
  }
  const left: number[] = [];
  for (let at = 0; at < line.length; at += BEHIND_WORDS) {
    if (!ended.has(at)) left.push(line[at]!, line[at + 1]!, turns.get(at) ?? line[at + 2]!);
  }
  setBehind(s, market.number, left);
}

/**
 * By this the accounts that wait are served, the largest first: so the later turns of each are to those of
 * the others as their shortfalls are. Below 0 where the account is not due.
 */
function weightOf(market: Market, account: number, turns: number): number {
  const row = market.positions.rowOf(account);
  if (row === NONE || market.positions.lots(row) === 0) return -1;
  return divFloor(shortfallOf(market, row), turns + 1);
}

/** Whether a position that orders have to wait for waits behind the others. */
function isAnyBehind(s: VenueState, market: Market): boolean {
  const line = s.behind[market.number] ?? [];
  // Others may wait that it has no room for.
  if (line.length >= BEHIND_WORDS * BEHIND_PER_MARKET) return true;
  for (let at = 0; at < line.length; at += BEHIND_WORDS) {
    if (isLarge(weightOf(market, line[at]!, 0))) return true;
  }
  return false;
}

/** Whether the command begins no further liquidation. It finishes the account in turn, however many orders. */
function hasCanceledEnough({ scratch, rules }: VenueState): boolean {
  return scratch.liquidatedOrders >= rules.liquidationCancelsPerCommand;
}

/**
 * Offers the market's due positions by their shortfall, maintenance − equity, those that wait for a later
 * turn apart. One pass over the
 * watches; only a position whose shortfall may be among the largest is computed exactly.
 */
function offerDue(s: VenueState, market: Market, due: Selection): void {
  const { positions, maintenance } = market;
  const behind = new Set(accountsBehind(s, market));
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
      const shortfall = shortfallOf(market, row);
      if (shortfall < 0) continue;
      if (behind.size > 0 && behind.has(positions.account(row))) continue;
      due.offer(shortfall, firstTie + positions.account(row), row);
      floor = due.floor - 2;
    }
    return found;
  });
}

function accountsBehind(s: VenueState, market: Market): number[] {
  return (s.behind[market.number] ?? []).filter((_, at) => at % BEHIND_WORDS === 0);
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
  return market.positions.lots(row) !== 0 && shortfallOf(market, row) >= 0;
}

function shortfallOf(market: Market, row: number): number {
  return maintenanceOf(market, row) - equityOf(market, row);
}

/**
 * A turn of one position. `unitsInBook`: for meeting makers; what the book would take beyond that waits.
 * `isOverdue`: it is handed over without asking the book.
 */
function liquidate(
  s: VenueState,
  market: Market,
  row: number,
  unitsInBook: number,
  isOverdue: boolean,
): void {
  const { work } = s.scratch;
  work.charge(s.rules.unitsPerService);
  market.positions.table.touch(row);
  settleFunding(s, market, row);
  // Those that close the position protect what may be left; `settle` ends them if nothing is.
  const others = openOrdersOf(s, market, row).filter((each) => !closesPosition(s.orders, each));
  const { endedBySettle } = s.scratch;
  const canceled = endOrders(s, idsOf(s.orders, others), END.liquidation);
  // In a market that is being made reduce-only the first end takes the others with it.
  s.scratch.liquidatedOrders += canceled + s.scratch.endedBySettle - endedBySettle;
  const booked = isOverdue ? Number.NEGATIVE_INFINITY : work.spent + unitsInBook;
  while (work.left > 0 && isDue(market, row)) {
    if (!liquidationRound(s, market, row, booked)) break;
  }
  settle(s, market, row);
}

/** `booked`: the units spent at which it stops to take from the book. False if it did. */
function liquidationRound(s: VenueState, market: Market, row: number, booked: number): boolean {
  const { positions } = market;
  const { taker, work } = s.scratch;
  const account = positions.account(row);
  const side = positions.lots(row) > 0 ? SHORT : LONG;
  taker.begin(TAKER_LIQUIDATION, side, row, account, 0);
  taker.lotsLeft = targetLots(s, market, row);
  if (booked > 0) {
    const outer = work.narrow(booked - work.spent);
    match(s, market, taker);
    work.widen(outer);
  }
  const isCut = taker.stopReason === END.fill_limit;

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
  } else if (taker.lotsLeft > 0 && !isCut && isDue(market, row)) {
    const held = Math.abs(positions.lots(row));
    const outer = work.narrow(s.rules.unitsPerTurn);
    backstopLots = handOver(s, market, row, side, taker.lotsLeft);
    work.widen(outer);
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
  return !isCut;
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
