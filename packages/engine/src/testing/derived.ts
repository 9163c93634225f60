/**
 * What the engine keeps next to its tables, in words that do not depend on rows and slots: two engines
 * in the same state must agree on all of it, however they came there.
 */
import { EXIT_KINDS } from "@perpgate/protocol/order-id";
import { LONG, SHORT } from "../commands.js";
import type { Ladder } from "../state/ladder.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import { KIND_LISTS, ORDER_LISTS } from "../state/positions.js";
import type { VenueState } from "../state/venue.js";

export function describeDerived(s: VenueState): unknown {
  const expiring = [...s.orders.openRows()].filter((row) => {
    const extras = s.orders.extrasRow(row);
    return extras !== NONE && s.orders.extras.expiresAtMs(extras) !== 0;
  });
  return {
    open: s.orders
      .openRows()
      .map((row) => [s.orders.id(row), s.orders.index.get(s.orders.id(row)) === row]),
    openCount: s.orders.open,
    expiring: [expiring.length, s.orders.extras.expiries.size, s.orders.extras.expiries.nextTime()],
    reaches: [...s.reaches],
    markets: s.markets.map((market) => describeMarket(s, market)),
  };
}

function describeMarket(s: VenueState, market: Market): unknown {
  const { positions } = market;
  const stops = market.stopBooks.map((book) => {
    const all: (readonly [number, number, boolean])[] = [];
    book.forEach((order, reachedAt, isTriggered) => {
      all.push([s.orders.id(order), reachedAt, isTriggered]);
    });
    return all.sort((a, b) => a[0] - b[0]);
  });
  const lines: (readonly [number, number, number, boolean])[] = [];
  market.stopLines.forEach((order, line, set, waits) => {
    lines.push([s.orders.id(order), line, set, waits]);
  });
  const triggered: number[] = [];
  market.stopLines.forEachTriggered((order) => triggered.push(s.orders.id(order)));
  // A row that is new has nothing.
  const rows = positions
    .allRows()
    .filter((row) => positions.lots(row) !== 0 || positions.openOrders(row) > 0);
  return {
    steep: [market.steepLongLots, market.steepShortLots],
    bids: describeLadder(s, market.bids),
    asks: describeLadder(s, market.asks),
    stops,
    lines,
    triggered,
    positions: rows.map((row) => ({
      account: positions.account(row),
      lists: ORDER_LISTS.map((list) => idsFrom(s, positions.head(row, list))),
      tails: ORDER_LISTS.map((list) => idOf(s, positions.tail(row, list))),
      kinds: KIND_LISTS.map((list) => idsOfKind(s, positions.head(row, list))),
      lastOfKinds: KIND_LISTS.map((list) => idOf(s, positions.tail(row, list))),
      closingSide: positions.closingSide(row),
      frontier: idOf(s, positions.frontier(row)),
      covered: positions.covered(row),
      pairs: pairsOf(s, positions.newestPair(row)),
      triggered: [0, 1].map((trigger) => idOf(s, positions.triggeredStop(row, trigger))),
      counts: ([LONG, SHORT] as const).map((side) => [
        positions.reduceOnlyOrders(row, side),
        positions.closePositionOrders(row, side),
        positions.entryOrders(row, side),
      ]),
    })),
  };
}

function describeLadder(s: VenueState, ladder: Ladder): unknown {
  const levels: unknown[] = [];
  for (let i = 0; i < ladder.count; i++) {
    const ids: number[] = [];
    let order = ladder.firstOrderAt(i);
    while (order !== NONE) {
      ids.push(s.orders.id(order));
      order = s.orders.nextAtLevel(order);
    }
    levels.push([ladder.ticksAt(i), ladder.lotsAt(i), ids]);
  }
  return levels;
}

function idsFrom(s: VenueState, first: number): number[] {
  const ids: number[] = [];
  for (let order = first; order !== NONE; order = s.orders.next(order)) {
    ids.push(s.orders.id(order));
    const next = s.orders.next(order);
    if (next !== NONE && s.orders.previous(next) !== order) throw new Error("a list is broken");
  }
  return ids;
}

function idsOfKind(s: VenueState, first: number): number[] {
  const ids: number[] = [];
  for (let order = first; order !== NONE; order = s.orders.nextOfKind(order)) {
    ids.push(s.orders.id(order));
    const next = s.orders.nextOfKind(order);
    if (next !== NONE && s.orders.previousOfKind(next) !== order)
      throw new Error("a list is broken");
  }
  return ids;
}

function idOf(s: VenueState, order: number): number {
  return order === NONE ? 0 : s.orders.id(order);
}

/** From the newest on: the order, its exits and the lots of the pair. */
function pairsOf(s: VenueState, newest: number): unknown[] {
  const pairs: unknown[] = [];
  for (let pair = newest; pair !== NONE; pair = s.exits.olderThan(pair)) {
    const exits = EXIT_KINDS.map((kind) => idOf(s, s.exits.exit(pair, kind)));
    pairs.push([s.exits.orderId(pair), exits, s.exits.lots(pair)]);
  }
  return pairs;
}
