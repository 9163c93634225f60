/**
 * "Tick", step 3, and "Liquidating (account, market)": who is liquidated, and the rounds.
 */
import { TRADE_LIQUIDATION } from "../../events/event-table.js";
import { END } from "../../reasons.js";
import { bankruptcyPrice, closeLots } from "./bankruptcy.js";
import { emit, touch } from "./end-events.js";
import { reducingSide } from "./fills.js";
import { settleFunding } from "./funding.js";
import { abs, ceilDiv, floorDiv, max, min, num } from "./integers.js";
import {
  equityOf,
  isLiquidatable,
  isLive,
  lotAtMark,
  MILLION,
  maintenance,
  maintenanceOf,
  netEquityOf,
  unitOf,
} from "./margin.js";
import { match } from "./matching.js";
import { endOrders, settle } from "./settle.js";
import {
  accountOf,
  type Liquidations,
  type Market,
  marketOf,
  type Position,
  positionOf,
  rulesOf,
  type State,
} from "./state.js";
import { type TakenOver, takeOver } from "./takeover.js";
import { charge, mayMeet, serveMarket, within } from "./work.js";

/** Orders after whose cancels no further liquidation is begun. */
const CANCELS = 4_096;

/** "Turns": 20 makers, then 500 at a time. */
const FIRST_TURN = 80;
const TURN = 2_000;
/** Units of a turn, whatever it meets. */
const BEGUN = 8;
const ALL = Number.POSITIVE_INFINITY;

/** What a liquidation that waits may be short of without keeping orders from trading. */
const TEN_DOLLARS = 10_000_000n;

export function beginLiquidations(state: State, turns: number): void {
  const count = rulesOf(state).takesTurns ? state.markets.length : 1;
  state.liquidations = Array.from({ length: count }, () => {
    return { first: turns, later: turns, waiting: [], isMore: true };
  });
}

/** Phase 3. Of all that are due, those with the largest shortfall; the others wait. */
export function liquidations(state: State): void {
  const { work } = state;
  for (const each of state.liquidations) {
    each.waiting = [];
    each.isMore = true;
  }
  if (work.spent >= work.limit) return;
  if (rulesOf(state).takesTurns) {
    for (const market of state.markets) choose(state, liquidationsIn(state, market), [market]);
  } else {
    const [all] = state.liquidations;
    all!.first = state.budget;
    choose(state, all!, state.markets);
  }
  giveTurns(state);
}

function liquidationsIn(state: State, market: Market): Liquidations {
  return state.liquidations[rulesOf(state).takesTurns ? market.number : 0]!;
}

function choose(state: State, chosen: Liquidations, markets: readonly Market[]): void {
  if (chosen.first === 0) return;
  const list: { position: Position; shortfall: bigint }[] = [];
  for (const market of markets) {
    if (!isLive(state, market)) continue;
    for (const { number: account } of state.accounts) {
      const position = positionOf(state, account, market.number);
      if (!isLiquidatable(state, position)) continue;
      if (market.behind.some((each) => each.account === account)) continue;
      list.push({ position, shortfall: shortfallOf(market, position) });
    }
  }
  // The sort is stable: equal shortfalls stay in order of market, then account.
  list.sort((a, b) => (a.shortfall === b.shortfall ? 0 : a.shortfall > b.shortfall ? -1 : 1));
  chosen.waiting = list.slice(0, chosen.first);
  const isFull = chosen.waiting.length === chosen.first;
  chosen.isMore = isFull && (chosen.waiting.at(-1)?.shortfall ?? 0n) > TEN_DOLLARS;
}

/** "Turns": with what the tick has left; and whether orders may go on after a jump. */
export function endLiquidations(state: State): void {
  giveTurns(state);
  for (const market of state.markets) {
    if (!isLive(state, market)) continue;
    const { waiting, isMore } = liquidationsIn(state, market);
    const isBehind = market.behind.some(({ account }) => {
      const position = positionOf(state, account, market.number);
      if (!isLiquidatable(state, position)) return false;
      return shortfallOf(market, position) > TEN_DOLLARS;
    });
    const isLarge = waiting.some(({ shortfall }) => shortfall > TEN_DOLLARS);
    if (isMore || isLarge || isBehind || market.behind.length >= 4_096) continue;
    market.settledMark = market.mark;
  }
}

function shortfallOf(market: Market, position: Position): bigint {
  return maintenanceOf(market, position.lots) - netEquityOf(market, position);
}

function giveTurns(state: State): void {
  for (const each of state.liquidations) giveFirstTurns(state, each);
  if (!rulesOf(state).takesTurns) return;
  for (const market of state.markets) if (isLive(state, market)) giveLaterTurns(state, market);
}

function giveFirstTurns(state: State, each: Liquidations): void {
  const { takesTurns } = rulesOf(state);
  each.waiting = each.waiting.filter(({ position }) => {
    const market = marketOf(state, position.market);
    if (!isLiquidatable(state, position)) return false;
    serveMarket(state, position.market);
    const hasMany = takesTurns && 4 * position.orders.length > FIRST_TURN;
    if (hasMany && goBehind(state, market, position)) return false;
    const budget = takesTurns ? each.first : state.budget;
    if (!mayMeet(state) || budget === 0 || hasCanceledEnough(state)) return true;
    if (takesTurns) each.first -= 1;
    else state.budget -= 1;
    liquidate(state, position, takesTurns ? FIRST_TURN : ALL, false);
    if (!takesTurns || !isLiquidatable(state, position)) return false;
    if (!mayMeet(state)) return true;
    goBehind(state, market, position);
    return false;
  });
}

/** By shortfall for each turn, that of now included: the account with the most is next. */
function giveLaterTurns(state: State, market: Market): void {
  const liquidations = liquidationsIn(state, market);
  serveMarket(state, market.number);
  if (!mayMeet(state) || liquidations.later === 0) return;
  const isStillDue = ({ account }: { readonly account: number }) =>
    isLiquidatable(state, positionOf(state, account, market.number));
  market.behind = market.behind.filter(isStillDue);
  let next = market.behind.map((each) => ({ each, share: shareOf(state, market, each) }));
  while (mayMeet(state) && liquidations.later > 0) {
    next.sort((a, b) =>
      a.share === b.share ? a.each.account - b.each.account : a.share > b.share ? -1 : 1,
    );
    const [first] = next;
    if (first === undefined) return;
    const { each } = first;
    if (isStillDue(each)) {
      liquidations.later -= 1;
      const position = positionOf(state, each.account, market.number);
      liquidate(state, position, TURN, state.time - each.since >= 1_000);
    }
    if (!isStillDue(each)) {
      market.behind = market.behind.filter((other) => other !== each);
      next = next.slice(1);
      continue;
    }
    if (!mayMeet(state)) return;
    each.turns += 1n;
    first.share = shareOf(state, market, each);
  }
}

function shareOf(
  state: State,
  market: Market,
  { account, turns }: { readonly account: number; readonly turns: bigint },
): bigint {
  const shortfall = shortfallOf(market, positionOf(state, account, market.number));
  return floorDiv(shortfall, turns + 1n);
}

/** At most 4,096 of a market wait so. */
function goBehind(state: State, market: Market, { account }: Position): boolean {
  if (market.behind.length >= 4_096) return false;
  market.behind.push({ account, since: state.time, turns: 0n });
  return true;
}

/** Version 2 only; from then on the units bound it. */
function hasCanceledEnough(state: State): boolean {
  return !rulesOf(state).takesTurns && state.liquidatedOrders >= CANCELS;
}

function liquidate(state: State, position: Position, units: number, isOverdue: boolean): void {
  const market = marketOf(state, position.market);
  if (rulesOf(state).workOfOrders) charge(state, BEGUN);
  touch(state, position);
  settleFunding(state, position);
  // "A liquidation cancels it only if the position ends."
  const others = position.orders.filter(({ extra }) => extra?.closePosition !== true);
  const before = state.endedBySettle;
  const canceled = endOrders(state, others, END.liquidation);
  state.liquidatedOrders += canceled + state.endedBySettle - before;
  const turnEnd = isOverdue ? null : state.work.spent + units;
  while (isLiquidatable(state, position) && mayMeet(state)) {
    if (!liquidationRound(state, market, position, turnEnd)) break;
  }
  settle(state, position.account, position.market);
}

/** `turnEnd`: the units spent at which the book is left; null: it is not asked. False if that was reached. */
function liquidationRound(
  state: State,
  market: Market,
  position: Position,
  turnEnd: number | null,
): boolean {
  const target = targetLots(state, market, position);
  const closed =
    turnEnd === null
      ? { lots: 0n, notional: 0n, interrupted: false }
      : within(state, turnEnd - state.work.spent, () => {
          return closeInBook(state, market, position, target);
        });
  const unfilled = target - closed.lots;
  const charge = ceilDiv(closed.notional * rulesOf(state).liquidationFeePpm, MILLION);
  // Step 3.
  let fee = 0n;
  let taken: TakenOver = { backstop: 0n, deleveraged: 0n, dust: 0n };
  if (position.lots === 0n) {
    fee = min(charge, position.margin);
    state.fund += fee;
    accountOf(state, position.account).wallet += position.margin - fee;
    position.margin = 0n;
  } else if (unfilled > 0n && !closed.interrupted && isLiquidatable(state, position)) {
    const units = rulesOf(state).takesTurns ? TURN : ALL;
    taken = within(state, units, () => takeOver(state, market, position, unfilled));
  } else {
    const spare = equityOf(market, position) - maintenanceOf(market, position.lots) - 1n;
    fee = min(charge, max(0n, min(spare, position.margin)));
    position.margin -= fee;
    state.fund += fee;
  }
  // Step 4.
  emit(state, {
    kind: "Liquidated",
    account: position.account,
    market: position.market,
    closedLots: num(closed.lots),
    feeMicros: num(fee),
    backstopLots: num(taken.backstop),
    deleveragedLots: num(taken.deleveraged),
    dustMicros: num(taken.dust),
  });
  return !closed.interrupted;
}

/** Step 1: down to the highest lower tier bound that leaves it safe, else everything. */
export function targetLots(state: State, market: Market, position: Position): bigint {
  const notional = abs(position.lots) * lotAtMark(market);
  const equity = equityOf(market, position);
  for (const tier of [...market.config.tiers].reverse()) {
    const bound = BigInt(tier.upToMicros);
    if (bound >= notional) continue;
    const fee = ceilDiv((notional - bound) * rulesOf(state).liquidationFeePpm, MILLION);
    if (equity - fee > maintenance(market, bound)) {
      return abs(position.lots) - floorDiv(bound, lotAtMark(market));
    }
  }
  return abs(position.lots);
}

/** Step 2: the matching loop up to the bankruptcy price, recomputed before each maker. */
function closeInBook(
  state: State,
  market: Market,
  position: Position,
  target: bigint,
): { lots: bigint; notional: bigint; interrupted: boolean } {
  const side = reducingSide(position.lots);
  const closed = { lots: 0n, notional: 0n };
  const stopped = match(state, market, {
    side,
    kind: TRADE_LIQUIDATION,
    account: position.account,
    orderId: 0,
    stop: (price) => {
      if (closed.lots === target || price === null) return END.none;
      const limit = bankruptcyPrice(market, position);
      return (side > 0 ? price > limit : price < limit) ? END.none : null;
    },
    want: () => target - closed.lots,
    fillable: (lots) => ({ lots, reason: END.none }),
    fill: (lots, price) => {
      closed.lots += lots;
      closed.notional += lots * price * unitOf(market);
      return { fee: 0n, pnl: closeLots(market, position, lots, price) };
    },
    // Step 8 of the loop settles the maker's account only.
    settle: () => {},
  });
  return { ...closed, interrupted: stopped === END.fill_limit };
}
