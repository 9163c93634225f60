/** Orders of an account from the history's rows; the engine lists the open ones. */
import { ORDER_STATUSES } from "@perpgate/engine";
import { NONE, namedOrder, openOrdersOf } from "@perpgate/engine/reading";
import type { Order, OrderType } from "@perpgate/protocol";
import { clientIdWords } from "@perpgate/protocol/client-order-id";
import {
  averagePrice,
  endReasonOf,
  fromMicros,
  isExitId,
  ORDER_TYPES,
  orderIdText,
  parentOf,
  TIMES_IN_FORCE,
  TRIGGERS,
} from "@perpgate/protocol/core";
import { type FilteredRows, NO_ROWS } from "../history/filtered-rows.js";
import type { NonceOrClientId } from "../history/history-reader.js";
import {
  EXTENDED_ROW,
  ORDER_ROW,
  ORDER_ROW_WORDS,
  plainTimeInForce,
} from "../history/order-row.js";
import type { MarketUnits } from "../listing/listing.js";
import { clientIdAt, priceOrNull, sideOf, sizeOf } from "./figures.js";
import { marketNumbers, orderPageOf, pageOf, type RowsQuery } from "./row-query.js";
import { stateOf, unitsOf, type VenueSource } from "./venue-source.js";

/** Orders in one response, unless fewer are asked for. */
const MAX_ORDERS = 1_000;

/** Open orders, oldest first, in all markets or in one. */
export function openOrdersView(source: VenueSource, account: number, symbol?: string): Order[] {
  const state = stateOf(source);
  const found: { id: number; market: number }[] = [];
  for (const number of marketNumbers(source, symbol)) {
    const market = state.markets[number];
    const row = market?.positions.rowOf(account) ?? NONE;
    if (market === undefined || row === NONE) continue;
    for (const order of openOrdersOf(state, market, row)) {
      found.push({ id: state.orders.id(order), market: number });
    }
  }
  return found
    .sort((a, b) => a.id - b.id)
    .flatMap(({ id, market }) => orderIn(source, account, [market], id) ?? []);
}

/** Id of the account's open order that the client named so. */
export function openOrderNamed(
  source: VenueSource,
  account: number,
  clientOrderId: string,
): number | undefined {
  const state = stateOf(source);
  const order = namedOrder(state, account, 0, clientOrderId);
  return order === NONE ? undefined : state.orders.id(order);
}

/** Orders in any state. */
export function allOrdersView(source: VenueSource, account: number, query: RowsQuery): Order[] {
  const rows = source.history.orders(
    account,
    marketNumbers(source, query.symbol),
    orderPageOf(query, MAX_ORDERS),
  );
  return rows.map((row) => orderOf(source, row));
}

/** A nonce, the client's id, or both. */
export interface OrderNames {
  readonly nonce?: number | undefined;
  readonly clientOrderId?: string | undefined;
  readonly status?: "open" | "all" | undefined;
}

/** Orders that have a name, in any state unless the open ones are asked for. */
export function ordersNamedView(
  source: VenueSource,
  account: number,
  names: OrderNames,
  query: RowsQuery,
): FilteredRows<Order> {
  const name = nameOf(names);
  if (name === undefined) return NO_ROWS;
  const { index } = stateOf(source).orders;
  const found = source.history.ordersNamed(
    account,
    marketNumbers(source, query.symbol),
    name,
    pageOf(query, MAX_ORDERS),
    names.status === "open" ? (id) => index.get(id) !== NONE : undefined,
  );
  return { ...found, rows: found.rows.map((row) => orderOf(source, row)) };
}

/** Undefined for what no order can have. */
export function nameOf({ nonce, clientOrderId }: OrderNames): NonceOrClientId | undefined {
  const clientId = clientOrderId === undefined ? undefined : clientIdWords(clientOrderId);
  const isValid = clientOrderId === undefined || clientId !== undefined;
  if (nonce !== undefined && isValid) return { nonce, clientId };
  return clientId === undefined ? undefined : { clientId };
}

export function orderView(source: VenueSource, account: number, id: number): Order | undefined {
  const { orders } = stateOf(source);
  const open = orders.index.get(id);
  const markets = open === NONE ? marketNumbers(source) : [orders.market(open)];
  return orderIn(source, account, markets, id);
}

function orderIn(
  source: VenueSource,
  account: number,
  markets: readonly number[],
  id: number,
): Order | undefined {
  const row = source.history.order(account, markets, id);
  return row === undefined ? undefined : orderOf(source, row);
}

export function orderOf(source: VenueSource, row: ArrayLike<number>): Order {
  const market = unitsOf(source, row[ORDER_ROW.MARKET]!);
  const type = ORDER_TYPES[row[ORDER_ROW.TYPE]!];
  const status = ORDER_STATUSES[row[ORDER_ROW.STATUS]!];
  if (type === undefined || status === undefined) throw new RangeError("an order row is damaged");
  const id = row[ORDER_ROW.ID]!;
  const filled = row[ORDER_ROW.FILLED_LOTS]!;
  const terms = termsOf(market, type, row);
  // One that closes the position has no lots of its own: it is as large as its fills.
  const remaining = terms.closePosition ? 0 : row[ORDER_ROW.REMAINING]!;
  return {
    orderId: orderIdText(id),
    symbol: market.symbol,
    side: sideOf(row[ORDER_ROW.SIDE]!),
    type,
    status,
    price: priceOrNull(market, row[ORDER_ROW.PRICE]!),
    // Not the lots at its placement: money buys more or fewer of them, and an order may be reduced.
    size: sizeOf(market, filled + remaining),
    filledSize: sizeOf(market, filled),
    remainingSize: sizeOf(market, remaining),
    avgFillPrice: averagePrice(market, row[ORDER_ROW.FILLED_MICROS]!, filled),
    margin: fromMicros(row[ORDER_ROW.MARGIN]!),
    leverage: row[ORDER_ROW.LEVERAGE]!,
    reduceOnly: row[ORDER_ROW.REDUCE_ONLY] !== 0,
    postOnly: row[ORDER_ROW.POST_ONLY] !== 0,
    nonce: row[ORDER_ROW.NONCE]!,
    reason: endReasonOf(row[ORDER_ROW.REASON]!),
    createdAt: row[ORDER_ROW.CREATED]!,
    updatedAt: row[ORDER_ROW.UPDATED]!,
    ...terms,
    ...(isExitId(id) ? { parentOrderId: String(parentOf(id)) } : {}),
  };
}

type Terms = Pick<
  Order,
  | "clientOrderId"
  | "timeInForce"
  | "expiresAt"
  | "trigger"
  | "limitPrice"
  | "closePosition"
  | "triggered"
>;

/** What plain orders have by default. */
function termsOf(market: MarketUnits, type: OrderType, row: ArrayLike<number>): Terms {
  const isPlain = row.length === ORDER_ROW_WORDS;
  const force = isPlain ? plainTimeInForce(row[ORDER_ROW.TYPE]!) : row[EXTENDED_ROW.TIME_IN_FORCE]!;
  const expiresAt = isPlain ? 0 : row[EXTENDED_ROW.EXPIRES]!;
  return {
    clientOrderId: isPlain ? null : clientIdAt(row, EXTENDED_ROW.CLIENT),
    timeInForce: TIMES_IN_FORCE[force] ?? "gtc",
    expiresAt: expiresAt === 0 ? null : expiresAt,
    trigger:
      type === "stop" ? (TRIGGERS[isPlain ? 0 : row[EXTENDED_ROW.TRIGGER]!] ?? "stop") : null,
    limitPrice: isPlain ? null : priceOrNull(market, row[EXTENDED_ROW.LIMIT]!),
    closePosition: !isPlain && row[EXTENDED_ROW.CLOSE_POSITION] !== 0,
    ...(!isPlain && row[EXTENDED_ROW.CLOSE_POSITION] === 2 ? { triggered: true } : {}),
  };
}
