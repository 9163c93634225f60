import { Market, Order } from "@perpgate/protocol";
import { describe, expect, test } from "vitest";
import { newClient, startVenue } from "../testing/venue.js";
import { hasShape } from "./answer-shape.js";

describe("hasShape", () => {
  test("the fields of a response: types and presence count, new values and keys do not", async () => {
    const at = await startVenue();
    const [market] = await newClient(at).markets();
    expect(hasShape(Market, market)).toBe(true);
    expect(hasShape(Market, { ...market, status: "auction", more: {} })).toBe(true);
    expect(hasShape(Market, { ...market, markPrice: null })).toBe(true);
    const wrong: unknown[] = [
      { ...market, tickSize: "0.1" },
      { ...market, maxLeverage: 1.5 },
      { ...market, tiers: {} },
      { ...market, tiers: [{}] },
      { ...market, symbol: undefined },
      { ...market, status: 5 },
      [market],
      null,
      "BTCUSD",
    ];
    for (const value of wrong) expect(hasShape(Market, value), JSON.stringify(value)).toBe(false);
    const { symbol: _, ...without } = market ?? {};
    expect(hasShape(Market, without)).toBe(false);
    expect(hasShape(Order, market)).toBe(false);
  });
});
