/** An order id that no order can have. */
import { expect, test } from "vitest";
import { Venue } from "../scenarios/venue.js";

for (const orderId of [0, -1, 0.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY]) {
  test(`CancelOrder ${orderId}: not open, and nothing changes`, () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 1_000);
    const order = alice.buys("limit", { margin: 10, price: 49_000 });
    alice.cancels(order.orderId);
    alice.buys("limit", { margin: 10, price: 49_000 });
    alice.buys("limit", { margin: 10, price: 49_100 });
    alice.cancels(alice.buys("limit", { margin: 10, price: 49_200 }).orderId);
    const before = [alice.wallet, alice.reserved(), alice.openOrders()];
    expect(alice.cancels(orderId)).toBe("order_not_cancelable");
    expect([alice.wallet, alice.reserved(), alice.openOrders()]).toEqual(before);
  });
}
