import type { Order } from "@perpgate/protocol";
import { describe, expect, test } from "vitest";
import { RESTING } from "../testing/resting-order.js";
import { amendmentIn } from "./order-draft.js";

const { orderId } = RESTING;

describe("amendment of a row", () => {
  test("a field that was not edited is not sent, whatever the order has become", () => {
    expect(amendmentIn(RESTING, { orderId, price: "59000" })).toEqual({ orderId, price: 59_000 });
    expect(amendmentIn(RESTING, { orderId, size: "0.4" })).toEqual({ orderId, size: 0.4 });
    expect(amendmentIn(RESTING, { orderId })).toBeUndefined();
    const amended: Order = { ...RESTING, price: 58_000, size: 0.3, remainingSize: 0.3 };
    expect(amendmentIn(amended, { orderId, price: "59000" })).toEqual({ orderId, price: 59_000 });
    expect(amendmentIn(amended, { orderId, size: "0.4" })).toEqual({ orderId, size: 0.4 });
    expect(amendmentIn(amended, { orderId, price: "58000", size: "0.3" })).toBeUndefined();
  });

  test("a field with the order's own value changes nothing", () => {
    expect(amendmentIn(RESTING, { orderId, price: "60,000.0", size: "0.50" })).toBeUndefined();
  });

  test("a stop that was triggered: the price is its limit, and the size stays", () => {
    const triggered: Order = { ...RESTING, type: "stop", trigger: "stop", limitPrice: 61_000 };
    const draft = { orderId, price: "61500", size: "0.4" };
    expect(amendmentIn(triggered, draft)).toEqual({ orderId, limitPrice: 61_500 });
  });
});
