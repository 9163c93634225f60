import type { Order, PlacedOrder } from "@perpgate/sdk";
import { expect, test } from "vitest";
import { OrderShelf } from "./order-shelf.js";

const ORDER: Order = {
  orderId: "7",
  symbol: "BTCUSD",
  side: "long",
  type: "limit",
  status: "resting",
  price: 60_000,
  size: 1,
  filledSize: 0,
  remainingSize: 1,
  avgFillPrice: 0,
  margin: 1,
  leverage: 1,
  reduceOnly: false,
  postOnly: true,
  nonce: 1,
  reason: null,
  createdAt: 0,
  updatedAt: 0,
};
const ACK: PlacedOrder = {
  ...ORDER,
  status: "resting",
  ackNonce: "7",
  feePaid: 0,
  positionAfter: { size: 0, avgEntry: 0, unrealizedPnl: 0 },
  expectedBlock: 1,
  elapsedMs: 1,
  replayed: false,
};

test("an order that the stream called finished before its answer was read: stays finished", () => {
  const shelf = new OrderShelf();
  shelf.onFrame({ type: "update", seq: 8, orders: [{ ...ORDER, status: "filled" }] });
  shelf.onPlaced(ACK, 60_000);
  expect(shelf.count).toBe(0);
});

test("answer, then frame: one order; a snapshot replaces everything", () => {
  const shelf = new OrderShelf();
  shelf.onPlaced(ACK, 60_000);
  shelf.onFrame({ type: "update", seq: 7, orders: [ORDER] });
  expect([...shelf.of("BTCUSD").keys()]).toEqual(["7"]);
  shelf.onFrame({ type: "snapshot", seq: 9, orders: [{ ...ORDER, orderId: "9" }] });
  expect([...shelf.of("BTCUSD").keys()]).toEqual(["9"]);
});
