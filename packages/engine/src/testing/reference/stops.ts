/**
 * "Tick", step 5: stops that trigger.
 */
import { isExitId, parentOf } from "@perpgate/protocol/order-id";
import { LONG, SHORT, type Side } from "../../commands.js";
import { END } from "../../reasons.js";
import { bestAgainst } from "./book.js";
import { bandOf } from "./checks.js";
import { emit, touch } from "./end-events.js";
import { canOpen, isWaitingExit } from "./exits.js";
import { settleFunding } from "./funding.js";
import { abs, ceilDiv, min, num } from "./integers.js";
import { closable, isLive, lotAtMark, MILLION, owedFunding, unitOf } from "./margin.js";
import { match } from "./matching.js";
import { overReason } from "./over.js";
import { cancel, endOrder, isOpen, settle } from "./settle.js";
import {
  type Market,
  marketOf,
  type Order,
  type Position,
  positionOf,
  rulesOf,
  type State,
} from "./state.js";
import { restTriggered } from "./stop-limit.js";
import { lineOfTurn, reach, Service, serveLines } from "./stop-lines.js";
import { type Buying, StopLimitTaker, StopTaker } from "./takers.js";
import { charge, mayMeet, serveMarket, unitsLeft, within } from "./work.js";

/** "at most 64 a tick". */
const AGAIN = 64;

/** "Turns": 20 makers, then 500 at a time. */
const FIRST_TURN = 80;
const TURN = 2_000;
const ALL = Number.POSITIVE_INFINITY;

/** Looks at triggered stops, of a market and side. */
const LOOKS = 2_048;

/** Units of a stop that is triggered. */
const TRIGGER = 8;

/** Of all stops that were reached in markets with a fresh index, those whose turn it is. */
export function stops(state: State): Again {
  const waiting: Waiting[] = [];
  const again: Waiting[] = [];
  for (const market of state.markets) {
    if (!isLive(state, market)) continue;
    reach(state, market);
    const triggered: Waiting[] = [];
    for (const account of state.accounts) {
      const position = positionOf(state, account.number, market.number);
      for (const order of position.orders) {
        if (order.resting) continue;
        const capacity = closable(position, order.side);
        const closes = order.extra?.closePosition === true;
        const isFixed = order.triggered && rulesOf(state).triggeredLotsAreFixed;
        const lots = closes && !isFixed ? capacity : order.remaining;
        const notional = lots * lotAtMark(market);
        if (order.triggered) {
          if (lots > 0n) triggered.push({ order, isClosing: true, notional, turn: 0 });
          continue;
        }
        if (isWaitingExit(order) && lots === 0n) continue;
        if (!order.reached) continue;
        const isClosing = closes || order.reduceOnly || order.remaining <= capacity;
        waiting.push({ order, isClosing, notional, turn: 0 });
      }
    }
    for (const side of [LONG, SHORT] as const)
      again.push(...triedAgain(state, market, side, triggered));
  }
  again.sort(largestFirst);
  const orders = again.slice(0, AGAIN).map(({ order }) => order);
  const services = state.markets.map(() => ({ first: new Service(), later: new Service() }));
  if (rulesOf(state).stopsInLines) serveMarkets(state, services, false);
  else serve(state, waiting);
  closeAgain(state, orders, rulesOf(state).takesTurns ? FIRST_TURN : ALL);
  return { orders, services };
}

/** Of a market: first turns, and those of stops that have had one. */
interface Turns {
  readonly first: Service;
  readonly later: Service;
}

/** What the end of the tick goes on with. */
export interface Again {
  readonly orders: readonly Order[];
  readonly services: readonly Turns[];
}

/** "Turns": with what the tick has left. */
export function endStops(state: State, { orders, services }: Again): void {
  serveMarkets(state, services, true);
  closeAgain(state, orders, TURN);
}

function closeAgain(state: State, orders: readonly Order[], units: number): void {
  for (const order of orders) {
    serveMarket(state, order.market);
    if (mayMeet(state) && isOpen(state, order)) close(state, order, units);
  }
}

/** Version 3: "each market serves its own". */
function serveMarkets(state: State, services: readonly Turns[], isEnd: boolean): void {
  for (const market of state.markets) {
    if (!isLive(state, market)) continue;
    serveMarket(state, market.number);
    const { first, later } = services[market.number]!;
    const part = isEnd ? unitsLeft(state) : Math.ceil(unitsLeft(state) / 4);
    const before = state.work.spent;
    const give =
      (units: number) =>
      (order: Order): boolean => {
        if (unitsLeft(state) <= TRIGGER) return false;
        const over = overReason(state, order);
        if (over !== END.none) cancel(state, order, over);
        else trigger(state, order, units);
        return true;
      };
    within(state, 2 * part, () => serveLines(state, market, first, false, give(FIRST_TURN)));
    const rest = before + 3 * part - state.work.spent;
    within(state, rest, () => serveLines(state, market, later, true, give(TURN)));
  }
}

function serve(state: State, waiting: Waiting[]): void {
  waiting.sort(largestFirst);
  const turns = new Map<string, number>();
  for (const each of waiting) {
    const key = `${each.isClosing} ${each.order.account}`;
    each.turn = turns.get(key) ?? 0;
    turns.set(key, each.turn + 1);
  }
  waiting.sort(
    (a, b) => Number(b.isClosing) - Number(a.isClosing) || a.turn - b.turn || largestFirst(a, b),
  );
  for (const { order } of waiting.slice(0, state.budget)) {
    if (!isOpen(state, order)) continue;
    serveMarket(state, order.market);
    if (!mayMeet(state)) continue;
    state.budget -= 1;
    const over = overReason(state, order);
    if (over !== END.none) cancel(state, order, over);
    else trigger(state, order, ALL);
  }
}

interface Waiting {
  readonly order: Order;
  readonly isClosing: boolean;
  readonly notional: bigint;
  turn: number;
}

function largestFirst(a: Waiting, b: Waiting): number {
  if (a.notional !== b.notional) return a.notional > b.notional ? -1 : 1;
  return a.order.id - b.order.id;
}

/** "not where no level is within the band", nor where the best one leaves less than nothing. */
function triedAgain(
  state: State,
  market: Market,
  side: Side,
  triggered: readonly Waiting[],
): Waiting[] {
  const best = bestAgainst(market, side);
  if (best === undefined) return [];
  if (BigInt(side) * (best.price - market.mark) > bandOf(market)) return [];
  let looked = triggered.filter(({ order }) => order.side === side);
  if (rulesOf(state).stopsInLines) {
    // Those behind the last one that was looked at, then those from the lowest on.
    looked.sort((a, b) => a.order.id - b.order.id);
    const last = market.lookedAgain.get(side) ?? 0;
    const next = looked.filter(({ order }) => order.id > last);
    looked = [...next, ...looked.filter(({ order }) => order.id <= last)].slice(0, LOOKS);
    market.lookedAgain.set(side, looked.at(-1)?.order.id ?? last);
  }
  return looked.filter(({ order }) => {
    return canPay(market, positionOf(state, order.account, market.number), best);
  });
}

function canPay(market: Market, position: Position, best: Order): boolean {
  const worth = position.lots * best.price * unitOf(market);
  const left = position.margin + worth - position.cost - owedFunding(market, position);
  return left >= ceilDiv(abs(worth) * BigInt(market.config.takerFeePpm), MILLION);
}

function buying(state: State, order: Order, lots: bigint, reduceOnly: boolean): Buying {
  return {
    state,
    market: marketOf(state, order.market),
    position: positionOf(state, order.account, order.market),
    orderId: order.id,
    side: order.side,
    leverage: order.leverage,
    reduceOnly,
    cap: order.cap,
    lots,
    extra: order.extra,
  };
}

function trigger(state: State, order: Order, units: number): void {
  if (rulesOf(state).workOfOrders) charge(state, TRIGGER);
  const market = marketOf(state, order.market);
  const position = positionOf(state, order.account, order.market);
  const closes = order.extra?.closePosition === true;
  touch(state, position);
  order.line.isIn = false;
  if (closes) order.triggered = true;
  else position.orders = position.orders.filter((other) => other !== order);
  emit(state, {
    kind: "StopTriggered",
    orderId: order.id,
    account: order.account,
    market: order.market,
  });
  if (closes) {
    if (rulesOf(state).triggeredLotsAreFixed) fixLots(state, order);
    if (isOpen(state, order)) close(state, order, units);
    return;
  }
  settleFunding(state, position);
  const terms = buying(state, order, order.remaining, order.reduceOnly);
  const limit = order.extra?.limit ?? 0n;
  const taker = limit > 0n ? new StopLimitTaker(terms, limit) : new StopTaker(terms);
  state.serving = { order, taker };
  const reason = within(state, units, () => match(state, market, taker));
  state.serving = null;
  if (taker.left > 0n && reason === END.fill_limit && rulesOf(state).takesTurns) {
    if (!order.reduceOnly || closable(position, order.side) > 0n) {
      waitBehind(state, position, order, taker);
      return;
    }
  }
  if (limit > 0n && taker.left > 0n && reason === END.none) {
    restTriggered(state, market, position, order, taker.left);
    return;
  }
  // What its order opens later is to be covered, too.
  if (isExitId(order.id) && taker.left === 0n && canOpen(state, position, parentOf(order.id))) {
    order.reached = false;
    position.orders.push(order);
    settle(state, order.account, order.market);
    return;
  }
  emit(state, {
    kind: "OrderEnded",
    orderId: order.id,
    account: order.account,
    market: order.market,
    reason: taker.left === 0n ? END.none : reason,
    remainingLots: num(taker.left),
  });
  settle(state, order.account, order.market);
}

/** "one that reached it goes behind the others", with what it may still do. */
function waitBehind(state: State, position: Position, order: Order, taker: StopTaker): void {
  order.remaining = taker.left;
  const { isStale, turn } = order.line;
  const line = lineOfTurn(state, order, turn);
  order.line = { ...line, isStale, isBehind: true, movedAt: state.position };
  order.rank = state.position;
  position.orders.push(order);
  settle(state, order.account, order.market);
}

/** "triggering fixes its lots". */
export function fixLots(state: State, order: Order): void {
  order.remaining = closable(positionOf(state, order.account, order.market), order.side);
  if (order.remaining === 0n) endOrder(state, order, END.position_closed);
}

/** "closes the whole position": what the book takes of it now. */
function close(state: State, order: Order, units: number): void {
  const market = marketOf(state, order.market);
  const position = positionOf(state, order.account, order.market);
  const isFixed = rulesOf(state).triggeredLotsAreFixed;
  const lots = isFixed ? order.remaining : closable(position, order.side);
  if (lots === 0n) return;
  settleFunding(state, position);
  const taker = new StopTaker(buying(state, order, lots, true));
  state.serving = { order, taker };
  within(state, units, () => match(state, market, taker));
  state.serving = null;
  if (!isFixed || !isOpen(state, order)) return;
  order.remaining = min(order.remaining, lots - taker.filled);
  // "it never trades lots that were opened after it had triggered".
  if (order.remaining === 0n) endOrder(state, order, END.none);
}
