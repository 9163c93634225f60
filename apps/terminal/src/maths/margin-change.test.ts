import { BTC, SOL } from "@perpgate/engine/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fixture } from "../testing/engine-fixture.js";
import { largestRemoval } from "./margin-change.js";

describe.each([
  ["BTCUSD", BTC],
  ["SOLUSD", SOL],
])("margin of %s against the engine", (_, listing) => {
  test("largest removal: passes, and a micro more does not", () => {
    let removed = 0;
    const draws = fc.record({
      direction: fc.constantFrom<1 | -1>(1, -1),
      marginMicros: fc.integer({ min: 100_000_000, max: 5_000_000_000 }),
      leverage: fc.integer({ min: 1, max: 20 }),
      move: fc.integer({ min: -200, max: 200 }),
    });
    fc.assert(
      fc.property(draws, ({ move, ...order }) => {
        const fixture = new Fixture(listing);
        fixture.place({ ...order, type: "market", priceTicks: 0, reduceOnly: false });
        const held = fixture.held();
        fixture.venue.index(listing.startPrice * (1 + move / 10_000));
        fixture.venue.tick();
        const { mark } = fixture.venue.market();
        const most = largestRemoval(fixture.units, held, mark);
        expect(fixture.trader.changesMargin(-(most + 1) / 1e6)).toBe("margin_needed");
        if (most === 0) return;
        removed++;
        expect(fixture.trader.changesMargin(-most / 1e6)).toBeNull();
      }),
      { numRuns: 60 },
    );
    expect(removed).toBeGreaterThan(20);
  });
});
