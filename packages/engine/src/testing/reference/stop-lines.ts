/** "Lines of stops": the line of each pending stop, and the order in which ticks serve them. Version 3. */
import { isExitId } from "@perpgate/protocol/order-id";
import { LONG, STOP_TRIGGER } from "../../commands.js";
import { min } from "./integers.js";
import { closable, unitOf } from "./margin.js";
import {
  type Market,
  marketOf,
  type Order,
  type Position,
  positionOf,
  rulesOf,
  type State,
  type StopLine,
} from "./state.js";

const STEPS = 4_096;
const SERVED = 256;
const DOLLAR = 1_000_000n;

/** What a stop would close now, by tens of dollars at its own price: 0 to 6. */
function sizeOf(market: Market, position: Position, order: Order): number {
  const held = closable(position, order.side);
  const lots = order.extra?.closePosition === true ? held : min(held, order.remaining);
  const dollars = (lots * order.price * unitOf(market)) / DOLLAR;
  return Math.min(6, dollars.toString().length - 1);
}

/** Sets the line of a stop that is placed or amended: its class, turn and size. */
export function lineUp(state: State, order: Order): void {
  const position = positionOf(state, order.account, order.market);
  const others = position.orders.filter(
    (other) => other.line.isIn && !other.resting && !other.triggered && other !== order,
  );
  order.line = lineOf(state, order, others.length);
}

function lineOf(state: State, order: Order, others: number): StopLine {
  const turn = [1, 2, 8, 32].filter((bound) => others >= bound).length;
  return lineOfTurn(state, order, turn);
}

/** Of a stop with that turn. */
export function lineOfTurn(state: State, order: Order, turn: number): StopLine {
  const position = positionOf(state, order.account, order.market);
  const held = closable(position, order.side);
  const closes =
    order.extra?.closePosition === true ||
    order.reduceOnly ||
    (held > 0n && order.remaining <= held);
  const size = closes ? sizeOf(marketOf(state, order.market), position, order) : 0;
  const { place } = order.line;
  return { isIn: true, closes, turn, size, movedAt: 0, isStale: false, isBehind: false, place };
}

/** With the upgrade: by rank, as if each were placed now. */
export function lineUpAll(state: State): void {
  for (const { number } of state.accounts) {
    for (const market of state.markets) {
      const position = positionOf(state, number, market.number);
      const stops = position.orders.filter((order) => !order.resting && !order.triggered);
      stops.forEach((order, others) => {
        order.line = lineOf(state, order, others);
      });
    }
  }
}

/** With the end of a command: exits that began to cover lots, ascending id. */
export function lineUpExits(state: State): void {
  const exits = state.touched.flatMap(({ orders }) => orders).filter(isNewExit);
  for (const exit of exits.sort((a, b) => a.id - b.id)) lineUp(state, exit);
}

function isNewExit({ id, resting, remaining, line }: Order): boolean {
  return isExitId(id) && !resting && remaining > 0n && !line.isIn;
}

/** Exits, and stops that close the position, that are not reached, go by what there is to close. */
export function followPosition(state: State, position: Position): void {
  if (!rulesOf(state).stopsInLines) return;
  const market = marketOf(state, position.market);
  for (const order of position.orders) {
    const follows = order.extra?.closePosition === true || isExitId(order.id);
    const isPending = order.line.isIn && !order.resting && !order.reached && !order.triggered;
    if (follows && isPending) order.line.size = sizeOf(market, position, order);
  }
}

/** Notes the stops that the mark reaches in the order in which they are to wait. */
export function reach(state: State, market: Market): void {
  const reached: Order[] = [];
  for (const { number } of state.accounts) {
    for (const order of positionOf(state, number, market.number).orders) {
      if (order.resting || order.reached || order.triggered || !order.line.isIn) continue;
      const isReached = isRising(order) ? market.mark >= order.price : market.mark <= order.price;
      if (isReached) reached.push(order);
    }
  }
  reached.sort((a, b) => setOf(a) - setOf(b) || Number(keyOf(a) - keyOf(b)) || a.rank - b.rank);
  for (const order of reached) {
    order.reached = true;
    order.line.place = ++state.reachedStops;
  }
}

function setOf({ side, extra }: Order): number {
  return 2 * (extra?.trigger ?? STOP_TRIGGER) + (side === LONG ? 0 : 1);
}

/** Whether a rising mark reaches it. */
function isRising(order: Order): boolean {
  return setOf(order) === 0 || setOf(order) === 3;
}

/** Rises in the order in which the mark reaches them. */
function keyOf(order: Order): bigint {
  return isRising(order) ? order.price : -order.price;
}

/** Of a market and tick, first turns or later ones: stops that may be looked at, and served. */
export class Service {
  steps = STEPS;
  left = SERVED;
}

/**
 * Calls back for the stops of a market in their order, as often as it may; until it says no. `areBehind`:
 * for those that have reached the limit of a turn; else for the others.
 */
export function serveLines(
  state: State,
  market: Market,
  service: Service,
  areBehind: boolean,
  serve: (order: Order) => boolean,
): void {
  for (; service.steps > 0 && service.left > 0; service.steps--) {
    const order = nextOf(state, market, areBehind);
    if (order === undefined) return;
    const { line } = order;
    const position = positionOf(state, order.account, order.market);
    if (!line.isStale && line.closes && sizeOf(market, position, order) < line.size - 1) {
      line.isStale = true;
      line.movedAt = state.position;
      continue;
    }
    if (!serve(order)) return;
    service.left -= 1;
  }
}

function nextOf(state: State, market: Market, areBehind: boolean): Order | undefined {
  return state.accounts
    .flatMap(({ number }) => positionOf(state, number, market.number).orders)
    .filter((order) => order.reached && !order.triggered && !order.resting)
    .filter(({ line }) => line.isBehind === areBehind)
    .sort(compare)[0];
}

function compare(a: Order, b: Order): number {
  const [one, two] = [a.line, b.line];
  if (one.isStale !== two.isStale) return one.isStale ? 1 : -1;
  if (!one.isStale) {
    if (one.closes !== two.closes) return one.closes ? -1 : 1;
    const difference = one.turn - two.turn || two.size - one.size;
    if (difference !== 0) return difference;
  }
  if (one.movedAt === 0) return one.place - two.place;
  return one.movedAt - two.movedAt || a.id - b.id;
}
