/** The orders of an account that a query asks for. */

import type { Order, OrdersQuery } from "@perpgate/protocol";
import { parseOrderId } from "@perpgate/protocol/core";
import type { Views } from "../views/views.js";
import { wholePage } from "./whole-page.js";

/** Whether the orders are not those that are open now, which are in memory. */
export function readsPast({ status = "open", nonce, clientOrderId }: OrdersQuery): boolean {
  return status !== "open" || (nonce !== undefined && clientOrderId === undefined);
}

/** Whether it asks for orders by a name. */
export function isNamed({ nonce, clientOrderId }: OrdersQuery): boolean {
  return nonce !== undefined || clientOrderId !== undefined;
}

/** Those that are open. `onRead` gets the number of rows that were read: a filter may leave few of them. */
export function openOrdersFor(
  views: Views,
  account: number,
  query: OrdersQuery,
  onRead: (rows: number) => void,
): Order[] {
  if (!readsPast(query)) {
    const orders = openOrders(views, account, query);
    onRead(orders.length);
    return inPage(orders, query);
  }
  const { nonce, clientOrderId } = query;
  const found = views.ordersNamed(account, { nonce, clientOrderId, status: "open" }, query);
  onRead(found.read);
  return wholePage(found, query);
}

/** At most one of the open orders has the client's id. */
function openOrders(views: Views, account: number, query: OrdersQuery): Order[] {
  const { clientOrderId, symbol } = query;
  if (clientOrderId === undefined) return views.openOrders(account, symbol);
  const id = views.openOrderNamed(account, clientOrderId);
  const order = id === undefined ? undefined : views.order(account, id);
  return order === undefined ? [] : [order];
}

/** Of lists that are short enough to be read whole; they keep their order. */
function inPage(orders: readonly Order[], query: OrdersQuery): Order[] {
  const { symbol, nonce, before, after, from = 0, to = Number.POSITIVE_INFINITY } = query;
  const low = after === undefined ? 0 : cursorOf(after);
  const high = before === undefined ? Number.POSITIVE_INFINITY : cursorOf(before);
  const { limit = orders.length } = query;
  return orders
    .filter((order) => {
      const id = cursorOf(order.orderId);
      if (symbol !== undefined && order.symbol !== symbol) return false;
      if (nonce !== undefined && order.nonce !== nonce) return false;
      return id > low && id < high && order.createdAt >= from && order.createdAt < to;
    })
    .slice(0, limit);
}

/** An id that no log reaches comes after every order. */
function cursorOf(id: string): number {
  return parseOrderId(id) ?? Number(id);
}
