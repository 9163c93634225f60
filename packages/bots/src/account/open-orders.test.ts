import type { Order, PlacedOrder } from "@perpgate/sdk";
import { expect, test } from "vitest";
import { OpenOrders } from "./open-orders.js";

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
  clientOrderId: null,
  timeInForce: "gtc",
  expiresAt: null,
  trigger: null,
  limitPrice: null,
  closePosition: false,
};
const ACK: PlacedOrder = {
  ...ORDER,
  status: "resting",
  ackNonce: "7",
  feePaid: 0,
  positionAfter: { size: 0, avgEntry: 0, unrealizedPnl: 0 },
  expectedBlock: 1,
  time: 1,
  elapsedMs: 1,
  clientOrderId: null,
  replayed: false,
};

test("a frame that finishes an order before its acknowledgement: it stays finished", () => {
  const orders = new OpenOrders();
  orders.onFrame({ type: "update", seq: 8, orders: [{ ...ORDER, status: "filled" }] });
  orders.onPlaced(ACK, 60_000);
  expect(orders.count).toBe(0);
});

test("acknowledgement, then frame: one order; a snapshot replaces everything", () => {
  const orders = new OpenOrders();
  orders.onPlaced(ACK, 60_000);
  orders.onFrame({ type: "update", seq: 7, orders: [ORDER] });
  expect([...orders.of("BTCUSD").keys()]).toEqual(["7"]);
  orders.onFrame({ type: "snapshot", seq: 9, orders: [{ ...ORDER, orderId: "9" }] });
  expect([...orders.of("BTCUSD").keys()]).toEqual(["9"]);
});
