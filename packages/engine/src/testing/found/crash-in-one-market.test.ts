/**
 * Found with two markets: the 256 liquidations of a tick were counted, and the end of a jump decided, for all
 * markets together. A crash of one, with more than 256 positions due, kept the orders of another waiting
 * (`index_held`) that had moved by a little and had no position at all.
 */
import { expect, test } from "vitest";
import { LightVenue } from "../rules/light-venue.js";
import { BTC, ETH, MICROS } from "../scenarios/listing.js";

function crashOf(accounts: number): LightVenue {
  const venue = new LightVenue({
    markets: [BTC, ETH],
    config: { attestorKind: "dev", devCreditMicros: 5_000_000 * MICROS },
  });
  venue.trader("seller").sells("limit", { size: 200, leverage: 10, price: 50_000 });
  for (let i = 0; i < accounts; i++) {
    venue.trader(`due ${i}`).buys("market", { size: 0.02, leverage: 50 });
  }
  venue.tick();
  venue.index(48_500);
  return venue;
}

test("600 liquidations in BTC: orders in ETH, which moved by 1.2 %, wait for one tick", () => {
  const venue = crashOf(600);
  const other = venue.trader("other");
  venue.index(4_000 * 1.012, ETH);
  const bid = { size: 0.01, leverage: 1, price: 4_000 };
  expect(other.buys("limit", { ...bid, market: ETH }).reason).toBe("index_held");
  venue.tick();
  expect(other.buys("limit", { ...bid, market: ETH }).status).toBe("resting");
  // Those of BTC go on.
  expect(other.buys("limit", { ...bid, price: 48_000 }).reason).toBe("index_held");
});

test("600 liquidations in BTC, larger ones: one in ETH has its turn with the first tick", () => {
  const venue = crashOf(600);
  venue.trader("asks").sells("limit", { size: 1, leverage: 10, price: 4_000, market: ETH });
  const due = venue.trader("due in ETH");
  due.buys("market", { size: 0.01, leverage: 50, market: ETH });
  venue.index(3_900, ETH);
  venue.tick();
  const { account } = due;
  expect(venue.happened("Liquidated")).toContainEqual(
    expect.objectContaining({ account, market: 1 }),
  );
});

test("a liquidation is 8 units, whatever it meets: 256 of a market leave units to others", () => {
  const venue = crashOf(300);
  venue.tick();
  expect(venue.happened("Liquidated")).toHaveLength(256);
  expect(venue.engine.state.scratch.work.spent).toBeGreaterThanOrEqual(256 * 8);
});
