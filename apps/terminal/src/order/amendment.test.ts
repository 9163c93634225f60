import type { Order, Position } from "@perpgate/protocol";
import { afterEach, describe, expect, test } from "vitest";
import { RESTING } from "../testing/resting-order.js";
import { asksToAmend } from "./amendment.js";
import { changeSettings } from "./order-settings.js";

const { orderId } = RESTING;
const HELD: Position = {
  symbol: "BTCUSD",
  side: "long",
  size: 0.5,
  avgEntry: 60_000,
  markPrice: 60_000,
  margin: 6_000,
  leverage: 5,
  liquidationPrice: 50_000,
  unrealizedPnl: 0,
  realizedPnl: 0,
  fundingPaid: 0,
  updatedAt: 1,
};
const STOP: Order = {
  ...RESTING,
  type: "stop",
  side: "short",
  status: "pending",
  trigger: "stop",
  price: 55_000,
  reduceOnly: true,
};

describe("a change of an order that is asked about", () => {
  afterEach(() => changeSettings({ confirmAbove: "100000" }));

  test("above the trader's value, by its price or its size", () => {
    changeSettings({ confirmAbove: "30000" });
    const asks = (terms: object) => asksToAmend(RESTING, { orderId, ...terms }, undefined);
    expect(asks({ price: 60_000 })).toBe(false);
    expect(asks({ price: 60_001 })).toBe(true);
    expect(asks({ size: 0.51 })).toBe(true);
    expect(asks({ price: 50_000, size: 0.6 })).toBe(false);
    const triggered: Order = { ...RESTING, type: "stop", limitPrice: 59_000 };
    expect(asksToAmend(triggered, { orderId, limitPrice: 61_000 }, undefined)).toBe(true);
  });

  test("an exit of the whole position counts as much as the position is worth there", () => {
    changeSettings({ confirmAbove: "27000" });
    const exit: Order = { ...STOP, closePosition: true, size: 0 };
    expect(asksToAmend(exit, { orderId, price: 54_000 }, HELD)).toBe(false);
    expect(asksToAmend(exit, { orderId, price: 54_001 }, HELD)).toBe(true);
  });

  test("a stop beyond the liquidation price of its position, on either side", () => {
    const asks = (order: Order, price: number, position = HELD) =>
      asksToAmend(order, { orderId, price }, position);
    expect(asks(STOP, 50_001)).toBe(false);
    expect(asks(STOP, 50_000)).toBe(true);
    expect(asks({ ...STOP, reduceOnly: false, closePosition: true }, 49_000)).toBe(true);
    expect(asks({ ...STOP, trigger: "takeProfit" }, 49_000)).toBe(false);
    expect(asks({ ...STOP, reduceOnly: false }, 49_000)).toBe(false);
    expect(asksToAmend(STOP, { orderId, price: 49_000 }, undefined)).toBe(false);
    const short: Position = { ...HELD, side: "short", size: -0.5, liquidationPrice: 70_000 };
    expect(asks(STOP, 49_000, short)).toBe(false);
    expect(asks({ ...STOP, side: "long" }, 70_000, short)).toBe(true);
    expect(asks({ ...STOP, side: "long" }, 69_999, short)).toBe(false);
  });
});
