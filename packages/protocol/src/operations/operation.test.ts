import { describe, expect, test } from "vitest";
import {
  cancelOrder,
  errorCodesOf,
  getBook,
  getMarkets,
  messageOf,
  pathOf,
  placeOrder,
  socketAuth,
  socketCancel,
  socketOrder,
  socketPing,
  socketSession,
  socketSubscribe,
  socketUnsubscribe,
} from "./index.js";

describe("REST operations", () => {
  test("pathOf: parameters are filled in and percent-encoded", () => {
    expect(pathOf(getMarkets)).toBe("/v1/markets");
    expect(pathOf(cancelOrder, { id: "48213" })).toBe("/v1/orders/48213/cancel");
    expect(pathOf(getBook, { symbol: "A/B" })).toBe("/v1/markets/A%2FB/book");
  });

  test("pathOf: a missing parameter throws", () => {
    expect(() => pathOf(cancelOrder)).toThrow("cancelOrder needs the parameter id");
  });

  test("errorCodesOf: the operation's own codes first, then those of its kind", () => {
    const codes = errorCodesOf(placeOrder);
    expect(codes.slice(0, placeOrder.errors.length)).toEqual(placeOrder.errors);
    expect(codes).toEqual(expect.arrayContaining(["token_required", "overloaded", "stopped"]));
    expect(errorCodesOf(getMarkets)).not.toContain("token_required");
  });
});

test("socket operations: the message's op is the operation's", () => {
  const operations = [
    socketAuth,
    socketCancel,
    socketOrder,
    socketPing,
    socketSession,
    socketSubscribe,
    socketUnsubscribe,
  ];
  for (const { op, message } of operations) expect(message.properties.op.const).toBe(op);
  expect(messageOf(socketCancel, { orderId: "7" })).toEqual({ op: "cancel", orderId: "7" });
});
