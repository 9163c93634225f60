/** `size_below_lot` names the smallest margin: that one passes, and a micro-dollar less does not. */

import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const at = await runVenue({}, afterAll);

const MARKETS = [
  { symbol: "BTCUSD", price: 65_000, tick: 0.1 },
  { symbol: "ETHUSD", price: 3_200, tick: 0.01 },
];

/** Ticks away from the index, within the band. */
const away = fc.integer({ min: -2_000, max: 2_000 });

test("size_below_lot: the margin that it names is accepted, less is not", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        market: fc.constantFrom(...MARKETS),
        side: fc.constantFrom("long" as const, "short" as const),
        type: fc.constantFrom("market" as const, "limit" as const, "stop" as const),
        leverage: fc.integer({ min: 1, max: 50 }),
        away,
        quotes: fc.array(fc.record({ side: fc.constantFrom("long", "short"), away }), {
          maxLength: 2,
        }),
      }),
      async ({ market, side, type, leverage, away: ticks, quotes }) => {
        const { symbol, tick } = market;
        const priceAt = (distance: number) => Number((market.price + distance * tick).toFixed(2));
        const maker = await Trader.enter(at);
        // Without a position: an order that may close one can be smaller.
        const trader = await Trader.enter(at);
        for (const quote of quotes) {
          const price = priceAt(quote.side === "long" ? -Math.abs(quote.away) : quote.away);
          await maker.place({ ...maker.order({ symbol, type: "limit", price }), side: quote.side });
        }
        // A stop must not trigger immediately.
        const beyond = (side === "long" ? 1 : -1) * (Math.abs(ticks) + 1);
        const price = type === "market" ? null : priceAt(type === "stop" ? beyond : ticks);
        const order = (margin: number) =>
          trader.place(trader.order({ symbol, side, type, leverage, price, margin }));
        const { body } = await order(0.000_001);
        expect(body.code).toBe("size_below_lot");
        const { minMargin } = Object(body.details);
        const less = await order(Number((minMargin - 0.000_001).toFixed(6)));
        expect(["size_below_lot", "notional_too_small"]).toContain(less.body.code);
        const { status, text } = await order(minMargin);
        expect([status, text]).toEqual([200, expect.any(String)]);
        await maker.send("/v1/orders/cancel-all", {});
        await trader.send("/v1/orders/cancel-all", {});
      },
    ),
    { numRuns: 30 },
  );
});
