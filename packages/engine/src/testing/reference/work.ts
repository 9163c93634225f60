/**
 * "Work": what bounds a command and a tick, and what an account is charged for. Version 2 counts makers,
 * and four orders that settle ends in a turn as another one.
 */
import { rulesOf, type State } from "./state.js";

const MAKER = 4;
/** "Expired makers do not count against others". */
export const OVER = 8_000;
const ALL = Number.POSITIVE_INFINITY;

/** At the beginning of a command, or of an operation of a batch with what the others have left. */
export function beginWork(state: State, left: number, perMarket = left, forOver = 0): void {
  const { account } = state.work;
  state.work = {
    account,
    spent: 0,
    limit: left,
    perMarket,
    forOver,
    served: null,
    spentIn: new Map(),
    turnEnd: ALL,
  };
}

/** The limits of a tick. */
export function beginTick(state: State): void {
  const inAll = rulesOf(state).workOfOrders ? 24_000 : 8_000;
  beginWork(state, inAll, 8_000, OVER);
}

export function charge(state: State, units: number): void {
  const { work } = state;
  work.spent += units;
  if (work.served !== null) {
    work.spentIn.set(work.served, (work.spentIn.get(work.served) ?? 0) + units);
  }
}

/** Units that are left, in the market that a tick serves. */
export function unitsLeft({ work }: State): number {
  const inMarket = work.served === null ? 0 : (work.spentIn.get(work.served) ?? 0);
  const { limit, spent, perMarket, turnEnd } = work;
  return Math.max(0, Math.min(limit - spent, perMarket - inMarket, turnEnd - spent));
}

/** "Turns": a phase has this many units of each market, those used before it included. */
export function allot(state: State, units: number): void {
  if (rulesOf(state).takesTurns) state.work.perMarket = Math.floor(units);
}

/** "Turns": what is each market's own. */
export function fairShare({ work, markets }: State): number {
  return Math.min(8_000, Math.max(0, work.limit - work.spent) / markets.length);
}

/** Leaves at most that many units to what is called. */
export function within<T>(state: State, units: number, serve: () => T): T {
  const { work } = state;
  const outer = work.turnEnd;
  work.turnEnd = Math.min(outer, work.spent + units);
  const result = serve();
  work.turnEnd = outer;
  return result;
}

/** From here on the units of a tick count for this market, too. */
export function serveMarket(state: State, market: number): void {
  state.work.served = market;
}

/** Makers, or accounts to deleverage, that `count` others leave. */
export function mayMeetBeyond(state: State, count: number): boolean {
  return unitsLeft(state) > MAKER * count;
}

export function mayMeet(state: State): boolean {
  return unitsLeft(state) > 0;
}

/** Serves a maker, or an account that is deleveraged. */
export function meet<T>(state: State, serve: () => T): T {
  charge(state, MAKER);
  const before = state.endedBySettle;
  const result = serve();
  const makers = Math.floor((state.endedBySettle - before) / 4);
  if (!rulesOf(state).workOfOrders) charge(state, MAKER * makers);
  return result;
}

/** Ends a maker that is over: in units of its own, as long as there are any. */
export function passOver(state: State, end: () => void): void {
  const { work } = state;
  const before = work.spent;
  meet(state, end);
  if (!rulesOf(state).workOfOrders) return;
  const free = Math.min(work.spent - before, work.forOver);
  work.forOver -= free;
  charge(state, -free);
}

/** An order that the command or tick ends itself. */
export function chargeCancel(state: State): void {
  if (rulesOf(state).workOfOrders) charge(state, MAKER);
}

/** Orders that are re-covered or listed, 1 each, or ended by settle, 2 each. */
export function chargeOrders(state: State, count: number): void {
  if (rulesOf(state).workOfOrders) charge(state, count);
}

/** What may have to be undone has half of the units: the other half is for undoing it. */
export function halveUnits(state: State): void {
  const { work } = state;
  if (rulesOf(state).workOfOrders) work.limit = work.spent + Math.floor(unitsLeft(state) / 2);
  work.forOver = 0;
}

/** What was undone is counted twice. */
export function chargeUndone(state: State, spentBefore: number): void {
  if (rulesOf(state).workOfOrders) charge(state, state.work.spent - spentBefore);
}
