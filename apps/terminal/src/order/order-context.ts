/** What an estimate reads of the page's model: book, mark, position, wallet and own orders. */

import type { Order, Position } from "@perpgate/protocol";
import {
  divCeil,
  type Holding,
  mulDivCeil,
  PPM,
  toMicrosFloor,
  toSteps,
} from "@perpgate/protocol/core";
import type { SortedLevels } from "../book/levels.js";
import type { FundsContext } from "../maths/largest-order.js";
import { type Direction, NO_HOLDING } from "../maths/position-maths.js";
import type { Terminal } from "../terminal.js";
import type { MarketView } from "../venue/market-view.js";

/** How far mark and book may move apart between a click and the order: 0.03 %. */
const MOVE_PPM = 300;

/** Undefined until there is a mark and a book. */
export function readContext(
  { account, book, marketFeed }: Terminal,
  view: MarketView,
  direction: Direction,
  levels: SortedLevels,
): FundsContext | undefined {
  const { market, units } = view;
  const markTicks = markOf(marketFeed, view);
  const bookState = book.state.get();
  if (markTicks === undefined || bookState?.symbol !== market.symbol) return undefined;
  const own = ownOrders(account.orders.get(), view);
  const opposite = levels.read(bookState.book, direction > 0 ? "ask" : "bid");
  return {
    units,
    markTicks,
    opposite: withoutOwn(opposite, own, direction, view),
    held: holdingOf(account.positions.get()?.get(market.symbol), view),
    walletMicros: toMicrosFloor(Math.max(0, account.account.get()?.available ?? 0)),
    ...resting(own, direction, view),
    movePpm: MOVE_PPM,
  };
}

/** The mark in ticks. */
export function markOf(
  marketFeed: Terminal["marketFeed"],
  { market }: MarketView,
): number | undefined {
  const mark = marketFeed.ticker(market.symbol).get()?.mark ?? market.markPrice;
  return mark === null ? undefined : Math.round(mark / market.tickSize);
}

export function holdingOf(position: Position | undefined, { units }: MarketView): Holding {
  if (position === undefined) return NO_HOLDING;
  const { size, avgEntry, margin } = position;
  return {
    lots: Math.round(size / units.lot.size),
    costMicros: Math.round(avgEntry * size * 1e6),
    marginMicros: Math.round(margin * 1e6),
  };
}

/** The trader's orders that rest in this market's book. */
function ownOrders(orders: ReadonlyMap<string, Order> | undefined, { market }: MarketView) {
  return [...(orders?.values() ?? [])].filter(
    ({ symbol, status }) => symbol === market.symbol && status === "resting",
  );
}

/** A triggered stop rests at its limit. */
function restingTicks({ type, price, limitPrice }: Order, { units }: MarketView): number {
  const at = type === "stop" ? limitPrice : price;
  return at === null ? 0 : toSteps(at, units.tick);
}

/** The venue cancels the trader's own orders instead of filling them. */
function withoutOwn(
  levels: SortedLevels,
  own: readonly Order[],
  direction: Direction,
  view: MarketView,
): Iterable<readonly [ticks: number, lots: number]> {
  const side = direction > 0 ? "short" : "long";
  const lotsAt = new Map<number, number>();
  for (const order of own.filter((each) => each.side === side)) {
    const ticks = restingTicks(order, view);
    lotsAt.set(ticks, (lotsAt.get(ticks) ?? 0) + lotsOf(order, view));
  }
  if (lotsAt.size === 0) return levels;
  return Array.from(
    levels,
    ([ticks, lots]) => [ticks, lots - (lotsAt.get(ticks) ?? 0)] as const,
  ).filter(([, lots]) => lots > 0);
}

function lotsOf({ remainingSize }: Order, { units }: MarketView): number {
  return Math.round(remainingSize / units.lot.size);
}

function resting(own: readonly Order[], direction: Direction, view: MarketView) {
  const side = direction > 0 ? "long" : "short";
  let restingLots = 0;
  let restingMicros = 0;
  for (const order of own.filter((each) => each.side === side)) {
    const lots = lotsOf(order, view);
    const notional = lots * restingTicks(order, view) * view.units.unit;
    restingLots += lots;
    restingMicros +=
      divCeil(notional, order.leverage) + mulDivCeil(notional, view.units.makerPpm, PPM);
  }
  return { restingLots, restingMicros };
}
