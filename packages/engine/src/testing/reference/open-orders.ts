/** The open orders of an account, and one of them by its name. */
import type { Account, Order } from "./state.js";

/** All open orders of an account, ascending id. */
export function openOrders(account: Account): Order[] {
  return account.positions.flatMap((position) => position.orders).sort((a, b) => a.id - b.id);
}

/** By its id or, if that is 0, by the client's. */
export function namedOrder(
  own: readonly Order[],
  orderId: number,
  clientOrderId: string,
): Order | undefined {
  if (orderId !== 0) return own.find((each) => each.id === orderId);
  if (clientOrderId === "") return undefined;
  return own.find((each) => each.extra?.clientId === clientOrderId);
}
