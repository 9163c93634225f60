import type { Order } from "@perpgate/protocol";
import { expect, test } from "vitest";
import { amendmentOf, canResize } from "../order/amendment.js";
import { RESTING } from "../testing/resting-order.js";
import { newestFirst } from "./orders-table.js";

function exitOf(parentOrderId: string, kind: 1 | 2): Order {
  const trigger = kind === 1 ? "takeProfit" : "stop";
  const orderId = `${parentOrderId}.${kind}`;
  const terms = { type: "stop", side: "short", status: "pending", trigger, price: 1 } as const;
  return { ...RESTING, ...terms, orderId, parentOrderId, reduceOnly: true };
}

test("open orders: newest first, each followed by its exits", () => {
  const orders = ["7", "12", "9"].map((orderId) => ({ ...RESTING, orderId }));
  const open = [exitOf("7", 2), ...orders, exitOf("12", 2), exitOf("12", 1), exitOf("8", 1)];
  const ids = newestFirst(open).map(({ orderId }) => orderId);
  expect(ids).toEqual(["12", "12.1", "12.2", "9", "8.1", "7", "7.2"]);
});

test("an exit: its price can be amended, not its size", () => {
  const exit = exitOf("7", 1);
  expect(canResize(exit)).toBe(false);
  expect(amendmentOf(exit, { price: 2, size: 3 })).toEqual({ orderId: "7.1", price: 2 });
});
