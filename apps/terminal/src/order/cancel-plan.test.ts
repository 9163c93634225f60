import type { Order, Position } from "@perpgate/protocol";
import { expect, test } from "vitest";
import { RESTING } from "../testing/resting-order.js";
import { cancelPlan } from "./cancel-plan.js";

const EXIT = {
  ...RESTING,
  side: "short",
  type: "stop",
  status: "pending",
  trigger: "stop",
} as const;
const POSITION: Position = {
  symbol: "BTCUSD",
  side: "long",
  size: 1,
  avgEntry: 60_000,
  markPrice: 60_000,
  liquidationPrice: null,
  margin: 100,
  leverage: 5,
  unrealizedPnl: 0,
  realizedPnl: 0,
  fundingPaid: 0,
  updatedAt: 1,
};

function plan(orders: readonly Order[]) {
  const { others, exits, kept } = cancelPlan(
    new Map(orders.map((order) => [order.orderId, order])),
    new Map([["BTCUSD", POSITION]]),
  );
  const ids = (some: readonly Order[]) => some.map(({ orderId }) => orderId);
  return { others: ids(others), exits: ids(exits), kept: ids(kept) };
}

test("Cancel all: exits are apart; those that cover nothing yet end with their order", () => {
  const attached = { ...EXIT, reduceOnly: true, parentOrderId: "1" } as const;
  const open: Order[] = [
    { ...RESTING, orderId: "1" },
    { ...attached, orderId: "1.1", remainingSize: 0 },
    { ...attached, orderId: "2.1", parentOrderId: "2", remainingSize: 0.1 },
    { ...EXIT, orderId: "3", closePosition: true },
    { ...EXIT, orderId: "4", reduceOnly: true },
    { ...EXIT, orderId: "5" },
    { ...RESTING, orderId: "6", reduceOnly: true },
    { ...EXIT, orderId: "7", closePosition: true, symbol: "ETHUSD" },
  ];
  expect(plan(open)).toEqual({
    others: ["1", "5", "6"],
    exits: ["1.1", "2.1", "3", "4", "7"],
    kept: ["2.1", "3", "4"],
  });
});
