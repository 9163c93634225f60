/** The orders of an account that a query asks for. */

import type { Order, OrdersQuery } from "@perpgate/protocol";
import type { Views } from "@perpgate/venue";

/** `onRead` gets the number of rows that were read: a filter may leave few of them. */
export function ordersFor(
  views: Views,
  account: number,
  query: OrdersQuery,
  onRead: (rows: number) => void,
): Order[] {
  const { status = "open", nonce, clientOrderId } = query;
  const orders = ordersRead(views, account, query);
  onRead(orders.length);
  if (status === "all" && nonce === undefined && clientOrderId === undefined) return orders;
  const isWanted = (order: Order): boolean =>
    nonce === undefined || (order.nonce === nonce && (status === "all" || isOpen(order)));
  return inPage(orders.filter(isWanted), query);
}

function ordersRead(views: Views, account: number, query: OrdersQuery): Order[] {
  const { status = "open", nonce, clientOrderId } = query;
  if (clientOrderId !== undefined) return ordersNamed(views, account, clientOrderId, query);
  if (nonce !== undefined) return views.ordersByNonce(account, nonce);
  if (status === "all") return views.orders(account, query);
  return views.openOrders(account, query.symbol);
}

/** At most one of the open orders has the name; ended ones may have had it, too. */
function ordersNamed(
  views: Views,
  account: number,
  clientOrderId: string,
  query: OrdersQuery,
): Order[] {
  if (query.status === "all") return views.ordersByClientId(account, clientOrderId, query);
  const id = views.openOrderNamed(account, clientOrderId);
  const order = id === undefined ? undefined : views.order(account, id);
  return order === undefined ? [] : [order];
}

/** Of lists that are short enough to be read whole; they keep their order. */
function inPage(orders: readonly Order[], query: OrdersQuery): Order[] {
  const { symbol, before, after, from = 0, to = Number.POSITIVE_INFINITY } = query;
  const low = after === undefined ? 0 : Number(after);
  const high = before === undefined ? Number.POSITIVE_INFINITY : Number(before);
  const { limit = orders.length } = query;
  return orders
    .filter((order) => {
      const id = Number(order.orderId);
      if (symbol !== undefined && order.symbol !== symbol) return false;
      return id > low && id < high && order.createdAt >= from && order.createdAt < to;
    })
    .slice(0, limit);
}

function isOpen({ status }: Order): boolean {
  return status === "resting" || status === "pending";
}
