/** The orders of an account that a query asks for. */

import type { Order, OrdersQuery } from "@perpgate/protocol";
import type { Views } from "@perpgate/venue";

export function ordersFor(views: Views, account: number, query: OrdersQuery): Order[] {
  const { status = "open", nonce } = query;
  if (nonce !== undefined) {
    const orders = views.ordersByNonce(account, nonce);
    return inPage(status === "all" ? orders : orders.filter(isOpen), query);
  }
  if (status === "all") return views.orders(account, query);
  return inPage(views.openOrders(account, query.symbol), query);
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
