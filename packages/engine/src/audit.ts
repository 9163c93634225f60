/**
 * Recomputes all running figures of the engine from the rows, and returns what does not agree. Costs
 * a pass over the whole state: for tests, checkpoints and verification, not for the order path.
 */
import { exitKindOf, parentOf } from "@perpgate/protocol/order-id";
import { LONG, SHORT, type Side } from "./commands.js";
import type { Engine } from "./engine.js";
import { clearingCost } from "./markets/settlement.js";
import { closable } from "./money/fill.js";
import { fundingOwed } from "./money/owed-funding.js";
import {
  closesPosition,
  isExit,
  isTriggered,
  isWaitingExit,
  pendingNotional,
  setOfStop,
  stopsOf,
  triggerOf,
} from "./orders/open-orders.js";
import { mayHaveToClose } from "./orders/settle.js";
import { reachOf } from "./orders/stops.js";
import type { Market } from "./state/market.js";
import { NONE, type OrderStore } from "./state/orders.js";
import { KIND_LISTS, ORDER_LISTS, STOP_LIST } from "./state/positions.js";
import { WRITER_PLACES } from "./state/presence.js";
import type { VenueState } from "./state/venue.js";
import { flowKey } from "./state/withdrawals.js";
import { FORMER_PLACE } from "./state/writers.js";

export function audit(engine: Engine): string[] {
  const s = engine.state;
  const faults: string[] = [];
  const expect = (what: string, kept: number, counted: number): void => {
    if (kept !== counted) faults.push(`${what}: kept ${kept}, counted ${counted}`);
  };
  let wallets = 0;
  for (let account = 0; account < s.accounts.rows; account++) {
    const wallet = s.wallet(account);
    if (wallet < 0) faults.push(`account ${account}: wallet ${wallet}`);
    wallets += wallet;
  }
  let margins = 0;
  let reserves = 0;
  let cost = 0;
  let owed = 0;
  let pools = 0;
  for (const market of s.markets) {
    const sums = auditMarket(s, market, faults);
    margins += sums.margins;
    reserves += sums.reserves;
    cost += sums.cost;
    owed += sums.owed;
    expect(`${market.config.symbol} lots`, sums.lots, 0);
    expect(`${market.config.symbol} open interest`, market.longLots, sums.longLots);
    pools += market.settlementPool;
  }
  const { totals } = s;
  expect("wallets", totals.wallets, wallets);
  expect("margins", totals.margins, margins);
  expect("reserves", totals.reserves, reserves);
  expect("cost", totals.cost, cost);
  expect("settlement pools", totals.settlementPools, pools);
  auditFlows(s, expect);
  auditExpiries(s, expect);
  auditWriters(s, faults, expect);
  const money =
    wallets +
    margins +
    reserves +
    totals.fees +
    totals.fund +
    totals.fundingPool +
    totals.settlementPools;
  expect("money", money, totals.deposits + cost);
  // Rounding leaves money in the pool and never takes any: what payers owe covers what is due.
  if (totals.fundingPool + owed < 0) {
    faults.push(`funding pool: ${totals.fundingPool} with ${owed} owed`);
  }
  return faults;
}

/** Whether what came in and went out adds up, from every credit and every withdrawal. */
function auditFlows(
  { config, totals, deposits, withdrawals }: VenueState,
  expect: (what: string, kept: number, counted: number) => void,
): void {
  let credited = 0;
  const flows = new Map<string, number>();
  for (const {
    chain,
    token: named,
    credits,
    reorged,
    reorgSettledAtMs,
  } of deposits.byId.values()) {
    const isGone = reorged !== "" && reorgSettledAtMs === 0;
    for (const { token, amountMicros } of credits) {
      credited += amountMicros;
      const key = flowKey(chain, token === "" ? named : token);
      flows.set(key, (flows.get(key) ?? 0) + (isGone ? 0 : amountMicros));
    }
  }
  for (const [key, micros] of flows) {
    const [chain = "", token = ""] = key.split(" ");
    expect(`credits of ${key}`, deposits.credited(chain, token), micros);
  }
  let sent = 0;
  for (const micros of withdrawals.sent.values()) sent += micros;
  // The dev attestor's grants are in no list.
  if (config?.attestorKind === "chain") {
    expect("deposits", totals.deposits, config.fundSeedMicros + credited - sent);
  }
  let owed = 0;
  const unpaid = new Map<string, number>();
  for (const { chain, amountMicros, feeMicros } of withdrawals.byId.values()) {
    owed += amountMicros + feeMicros;
    unpaid.set(chain, (unpaid.get(chain) ?? 0) + amountMicros);
  }
  expect("withdrawals that may be credited again", withdrawals.owed, owed);
  for (const [chain, micros] of unpaid) {
    expect(`unpaid on ${chain}`, withdrawals.unpaid(chain), micros);
  }
}

/** Whether exactly the open orders that expire wait for it. */
function auditExpiries(
  { orders }: VenueState,
  expect: (what: string, kept: number, counted: number) => void,
): void {
  const { extras } = orders;
  let count = 0;
  let soonest = Number.POSITIVE_INFINITY;
  for (const order of orders.openRows()) {
    const row = orders.extrasRow(order);
    if (row === NONE) continue;
    const [id] = extras.wordsOf(row, orders.id(order));
    expect(`terms of order ${orders.id(order)}`, id!, orders.id(order));
    const words = orders.clientId(order);
    const found = orders.clientIds.find(orders.account(order), words);
    if (words[0] !== 0) expect(`client id of order ${orders.id(order)}`, found, order);
    const expiresAtMs = extras.expiresAtMs(row);
    if (expiresAtMs === 0) continue;
    count++;
    if (!extras.expiries.isHeld(orders.account(order))) soonest = Math.min(soonest, expiresAtMs);
  }
  expect("expiring orders", extras.expiries.size, count);
  expect("soonest expiry", extras.expiries.nextTime(), soonest);
}

/** Whether sessions are connected at live writers only, and as many at each as it counts. */
function auditWriters(
  { writers, sessions }: VenueState,
  faults: string[],
  expect: (what: string, kept: number, counted: number) => void,
): void {
  const connected = new Array<number>(WRITER_PLACES).fill(0);
  for (const { number } of sessions.all()) {
    for (let place = 0; place < WRITER_PLACES; place++) {
      if (sessions.presence.isAt(number, place)) connected[place]!++;
    }
  }
  const places = new Set(writers.live.map(({ place }) => place));
  expect("places of writers", places.size, writers.live.length);
  for (let place = 0; place < WRITER_PLACES; place++) {
    expect(`sessions at place ${place}`, sessions.presence.countAt(place), connected[place]!);
    const mayReturn = place === FORMER_PLACE && writers.isReturning;
    if (connected[place] !== 0 && !places.has(place) && !mayReturn) {
      faults.push(`sessions are connected at place ${place}, where no writer is`);
    }
  }
  for (const writer of writers.live) {
    if (writers.get(writer.id) !== writer)
      faults.push(`writer ${writer.id} is not found by its id`);
    if (!writers.ids.has(writer.id)) faults.push(`writer ${writer.id} is not remembered`);
  }
}

interface MarketSums {
  margins: number;
  reserves: number;
  cost: number;
  lots: number;
  longLots: number;
  /** Funding that positions owe, less what they are due. */
  owed: number;
}

function auditMarket(s: VenueState, market: Market, faults: string[]): MarketSums {
  const { orders } = s;
  const name = market.config.symbol;
  const sums: MarketSums = {
    margins: 0,
    reserves: 0,
    cost: market.backstopCost + clearingCost(market),
    lots: market.backstopLots + market.clearingLots,
    longLots: 0,
    owed: 0,
  };
  const reserved = new Map<number, number>();
  const openCount = new Map<number, number>();
  const pending = new Map<number, number>();
  const counts = new Map<number, number>();
  let stops = 0;
  for (const row of orders.openRows()) {
    if (orders.market(row) !== market.number) continue;
    const account = orders.account(row);
    const reserve = orders.reserve(row);
    reserved.set(account, (reserved.get(account) ?? 0) + reserve);
    openCount.set(account, (openCount.get(account) ?? 0) + 1);
    pending.set(account, (pending.get(account) ?? 0) + pendingNotional(s, market, row));
    if (!isWaitingExit(orders, row)) {
      const key = countKey(account, orders.side(row), kindOf(orders, row));
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    if (!orders.isStop(row)) continue;
    // An exit that covers nothing is not among the stops.
    if (!isWaitingExit(orders, row) || orders.remaining(row) > 0) stops++;
    if (reserve !== 0) faults.push(`${name}: a stop reserves`);
  }
  if (auditStops(s, market, faults) !== stops) faults.push(`${name}: stops are miscounted`);
  const { positions } = market;
  for (let row = 0; row < positions.table.rows; row++) {
    const account = positions.account(row);
    if (account === 0) continue;
    const lots = positions.lots(row);
    sums.margins += positions.margin(row);
    sums.cost += positions.cost(row);
    sums.lots += lots;
    sums.longLots += Math.max(0, lots);
    sums.owed += fundingOwed(market, row);
    sums.reserves += reserved.get(account) ?? 0;
    if (positions.reserved(row) !== (reserved.get(account) ?? 0)) {
      faults.push(`${name} account ${account}: reserves of its orders do not add up`);
    }
    if (!listsAreRanked(s, market, row)) {
      faults.push(`${name} account ${account}: its orders are not listed by rank`);
    }
    if (positions.pendingNotional(row) !== (pending.get(account) ?? 0)) {
      faults.push(`${name} account ${account}: notional of pending orders does not add up`);
    }
    if (positions.openOrders(row) !== (openCount.get(account) ?? 0)) {
      faults.push(`${name} account ${account}: open orders are miscounted`);
    }
    for (const side of [LONG, SHORT] as const) {
      const kept = [
        positions.reduceOnlyOrders(row, side),
        positions.closePositionOrders(row, side),
        positions.entryOrders(row, side),
      ];
      if (kept.some((count, kind) => count !== (counts.get(countKey(account, side, kind)) ?? 0))) {
        faults.push(`${name} account ${account}: orders of a side are miscounted by kind`);
      }
    }
    faults.push(
      ...pairFaults(s, market, row).map((fault) => `${name} account ${account}: ${fault}`),
    );
    if (closingIsIdle(s, market, row)) {
      faults.push(`${name} account ${account}: an order has no position to close`);
    }
    if (lots === 0 && (positions.cost(row) !== 0 || positions.margin(row) !== 0)) {
      faults.push(`${name} account ${account}: flat, but not empty`);
    }
  }
  for (const ladder of [market.bids, market.asks]) {
    if (!ladder.isConsistent()) faults.push(`${name}: a ladder disagrees with its orders`);
  }
  const { bids, asks } = market;
  if (bids.count > 0 && asks.count > 0 && bids.bestTicks() >= asks.bestTicks()) {
    faults.push(`${name}: the book is crossed`);
  }
  return sums;
}

/** Whether the pairs of exits cover lots of the position, and no more, and are listed if they do. */
function pairFaults({ orders, exits }: VenueState, market: Market, row: number): string[] {
  const { positions } = market;
  const faults: string[] = [];
  const listed: number[] = [];
  for (let pair = positions.newestPair(row); pair !== NONE; pair = exits.olderThan(pair)) {
    listed.push(exits.orderId(pair));
  }
  const covering = new Map<number, number>();
  for (const list of ORDER_LISTS) {
    for (let at = positions.head(row, list); at !== NONE; at = orders.next(at)) {
      if (!isExit(orders, at)) continue;
      const orderId = parentOf(orders.id(at));
      const pair = exits.find(orderId);
      const kind = exitKindOf(orders.id(at));
      if (pair === NONE || kind === 0 || exits.exit(pair, kind) !== at) faults.push("a lost exit");
      if (orders.remaining(at) > closable(market, row, orders.side(at))) faults.push("a wide exit");
      const hasLots = orders.remaining(at) > 0;
      if (!hasLots && orders.index.get(orderId) === NONE) faults.push("an idle exit");
      if (hasLots) covering.set(orderId, exits.lots(pair));
    }
  }
  const newestFirst = [...covering.keys()].sort((a, b) => b - a);
  if (listed.join() !== newestFirst.join()) faults.push("its pairs of exits are not listed");
  const covered = [...covering.values()].reduce((sum, lots) => sum + lots, 0);
  if (covered > Math.abs(positions.lots(row))) faults.push("its exits cover more than it has");
  return faults;
}

/** 0 for a reduce-only order, 1 for one that closes the position, 2 for any other. */
function kindOf(orders: OrderStore, row: number): number {
  if (orders.isReduceOnly(row)) return 0;
  return closesPosition(orders, row) ? 1 : 2;
}

function countKey(account: number, side: Side, kind: number): number {
  return (account * 2 + (side === LONG ? 0 : 1)) * 3 + kind;
}

function listsAreRanked({ orders }: VenueState, { positions }: Market, row: number): boolean {
  const isRanked = (head: number, next: (order: number) => number): boolean => {
    let rank = -1;
    for (let at = head; at !== NONE; at = next(at)) {
      if (orders.rank(at) <= rank) return false;
      rank = orders.rank(at);
    }
    return true;
  };
  return (
    ORDER_LISTS.every((list) => isRanked(positions.head(row, list), (at) => orders.next(at))) &&
    KIND_LISTS.every((list) => isRanked(positions.head(row, list), (at) => orders.nextOfKind(at)))
  );
}

/** Whether an order waits that could never have a position to close. */
function closingIsIdle(s: VenueState, market: Market, row: number): boolean {
  const { orders } = s;
  for (let at = market.positions.head(row, STOP_LIST); at !== NONE; at = orders.next(at)) {
    if (!closesPosition(orders, at)) continue;
    const side = orders.side(at);
    if (!mayHaveToClose(s, market, row, side)) return true;
    if (!s.rules.fixesTriggeredLots || !isTriggered(orders, at)) continue;
    const lots = orders.remaining(at);
    if (lots === 0 || lots > closable(market, row, side)) return true;
    if (market.positions.triggeredStop(row, triggerOf(orders, at)) !== at) return true;
  }
  return false;
}

/** Whether each stop stands where its price and the ticks that reached it put it; their number. */
function auditStops(s: VenueState, market: Market, faults: string[]): number {
  let stops = 0;
  for (const book of market.stopBooks) {
    let previous = Number.NEGATIVE_INFINITY;
    book.forEach((order, reachedAt, triggered) => {
      stops++;
      const key = book.sign * s.orders.price(order);
      const isUnsorted = reachedAt === 0 && !triggered && key < previous;
      previous = key;
      const isElsewhere = stopsOf(s, market, order) !== book;
      const isLate = !triggered && reachOf(s, order) !== reachedAt;
      if (isUnsorted || isElsewhere || isLate || isTriggered(s.orders, order) !== triggered) {
        faults.push(`${market.config.symbol}: stop ${s.orders.id(order)} is misplaced`);
      }
    });
  }
  const { orders } = s;
  market.stopLines.forEachTriggered((order, side) => {
    stops++;
    if (orders.side(order) === side && isTriggered(orders, order)) return;
    faults.push(`${market.config.symbol}: stop ${orders.id(order)} was not triggered`);
  });
  market.stopLines.forEach((order, line, set, waits) => {
    stops++;
    const isElsewhere = orders.line(order) !== line || (!waits && setOfStop(orders, order) !== set);
    const isLate = (reachOf(s, order) !== 0) !== waits || market.stopLines.waits(order) !== waits;
    if (isElsewhere || isLate || isTriggered(orders, order)) {
      faults.push(`${market.config.symbol}: stop ${orders.id(order)} is in the wrong line`);
    }
  });
  return stops;
}
