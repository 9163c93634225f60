import { describe, expect, test } from "vitest";
import { amendText, batchText, orderText } from "./order-body.js";

const PLAIN = { symbol: "BTCUSD", side: "long", type: "limit", margin: 5, leverage: 2 } as const;

describe("signed bodies", () => {
  test("a plain order: the bytes of the first release", () => {
    const order = { ...PLAIN, price: 60_000, reduceOnly: false, postOnly: true };
    expect(orderText(order, 7)).toBe(
      '{"symbol":"BTCUSD","side":"long","type":"limit","margin":5,"leverage":2,"price":60000,"postOnly":true,"nonce":7}',
    );
    expect(orderText({ ...PLAIN, price: null, postOnly: false }, 7)).toBe(orderText(PLAIN, 7));
  });

  test("equal fields give equal bytes, in whatever order they are passed", () => {
    const one = { ...PLAIN, size: 0.1, timeInForce: "ioc", clientOrderId: "a" } as const;
    const other = { clientOrderId: "a", timeInForce: "ioc", size: 0.1, ...PLAIN } as const;
    expect(orderText(one, 1)).toBe(orderText(other, 1));
  });

  test("exits: their fields in one order, unknown ones refused", () => {
    const stopLoss = { limitPrice: 59_900, price: 60_000 };
    const takeProfit = { limitPrice: null, price: 70_000 };
    const order = { stopLoss, takeProfit, ...PLAIN };
    expect(orderText(order, 1)).toBe(
      '{"symbol":"BTCUSD","side":"long","type":"limit","margin":5,"leverage":2,' +
        '"takeProfit":{"price":70000},"stopLoss":{"price":60000,"limitPrice":59900},"nonce":1}',
    );
    const misspelt = { ...PLAIN, stopLoss: { price: 1, limit: 2 } };
    expect(() => orderText(misspelt, 1)).toThrow(/stopLoss has no field "limit"; known: price, /);
    expect(() => batchText([{ op: "place", ...misspelt }], undefined, 1)).toThrow(
      /stopLoss has no/,
    );
  });

  test("a field that is not known is refused, with the known ones", () => {
    const order = { ...PLAIN, timeInForcee: "ioc" };
    expect(() => orderText(order, 1)).toThrow(
      /an order has no field "timeInForcee"; known: symbol, side, .*timeInForce/,
    );
    const amendment = { orderId: "1", prize: 1 };
    expect(() => amendText(amendment, 1)).toThrow(/an amendment has no field "prize"/);
    const operation = { op: "cancel", orderId: "1", symbol: "BTCUSD" } as const;
    expect(() => batchText([operation], undefined, 1)).toThrow(/a cancel of a batch has no field/);
  });

  test("an amendment that removes the expiry says so", () => {
    expect(amendText({ orderId: "4", expiresAt: null }, 2)).toBe(
      '{"orderId":"4","expiresAt":null,"nonce":2}',
    );
  });

  test("a batch: operations without nonces, in their order", () => {
    const text = batchText([{ op: "cancel", clientOrderId: "a" }], 99, 3);
    expect(JSON.parse(text)).toEqual({
      nonce: 3,
      operations: [{ op: "cancel", clientOrderId: "a" }],
      validUntil: 99,
    });
  });
});
