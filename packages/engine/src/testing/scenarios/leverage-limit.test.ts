/** How much leverage may open: by what is open above ten against the fund, and near the bound on open interest. */
import { describe, expect, test } from "vitest";
import { BTC, ETH, type Listing } from "./listing.js";
import { Venue, type VenueOptions } from "./venue.js";

/** A fund of $10,000: above ten up to $200,000 are open. */
const SMALL_FUND = { fundSeedMicros: 10_000e6 };

function pair(options: VenueOptions) {
  const venue = new Venue(options);
  return { venue, alice: venue.trader("alice", 1_000_000), bob: venue.trader("bob", 1_000_000) };
}

describe("open interest above ten against twenty times the fund", () => {
  function filled(coins: number, leverage: number, version = 3) {
    const world = pair({ config: SMALL_FUND, version });
    world.bob.sells("limit", { size: coins, leverage: 1, price: 50_000 });
    world.alice.buys("limit", { size: coins, leverage, price: 50_000 });
    return world;
  }

  const rows: [what: string, coins: number, leverage: number, refused: boolean][] = [
    ["four coins at 11, $200,000", 4, 11, false],
    ["a lot more at 11", 4.00001, 11, true],
    ["eight coins at 10", 8, 10, false],
  ];
  for (const [what, coins, leverage, refused] of rows) {
    test(`${what} are open: an order at 11 is ${refused ? "refused" : "accepted"}`, () => {
      const { alice } = filled(coins, leverage);
      const answer = alice.buys("limit", { size: 1, leverage: 11, price: 49_000 });
      expect(answer.reason).toBe(refused ? "leverage_limited" : "none");
      expect(alice.buys("limit", { size: 1, leverage: 10, price: 49_000 }).status).toBe("resting");
    });
  }

  test("before: version 2 knows no limit but the tiers", () => {
    const { alice } = filled(10, 50, 2);
    const answer = alice.buys("limit", { size: 1, leverage: 50, price: 49_000 });
    expect(answer.status).toBe("resting");
  });

  test("the short side counts as the long one does, and the larger of them", () => {
    const { venue, alice, bob } = pair({ config: SMALL_FUND });
    bob.buys("limit", { size: 5, leverage: 1, price: 50_000 });
    alice.sells("limit", { size: 5, leverage: 20, price: 50_000 });
    expect(venue.market().steepShortLots).toBe(500_000);
    expect(bob.buys("limit", { size: 1, leverage: 11, price: 49_000 }).reason).toBe(
      "leverage_limited",
    );
  });

  test("all markets count together", () => {
    const { alice, bob } = pair({ config: SMALL_FUND, markets: [BTC, ETH] });
    for (const [market, price, size] of [
      [BTC, 50_000, 2.1],
      [ETH, 4_000, 25],
    ] as const) {
      bob.sells("limit", { size, leverage: 1, price, market });
      alice.buys("limit", { size, leverage: 20, price, market });
    }
    expect(alice.buys("limit", { size: 1, leverage: 11, price: 49_000 }).reason).toBe(
      "leverage_limited",
    );
  });

  test("what rests is judged when it fills: one sweep does not pass the limit", () => {
    const { venue, alice, bob } = pair({ config: SMALL_FUND });
    for (let i = 0; i < 8; i++) alice.buys("limit", { size: 1, leverage: 20, price: 49_900 });
    const sweep = bob.sells("market", { size: 8, leverage: 1 });
    // The fifth coin opens while $200,000 are not exceeded; then the rest ends.
    expect([sweep.filled, alice.position().size]).toEqual([5, 5]);
    const reasons = venue.ended().filter(([, reason]) => reason === "leverage_limited");
    expect(reasons).toHaveLength(3);
  });

  test("margin that leaves a position counts as leverage, and is kept where it is limited", () => {
    const { venue, alice } = filled(5, 20);
    const bob = venue.trader("carol", 1_000_000);
    const dave = venue.trader("dave", 1_000_000);
    dave.sells("limit", { size: 1, leverage: 1, price: 50_000 });
    bob.buys("limit", { size: 1, leverage: 2, price: 50_000 });
    // Above a tenth of $50,000 may leave, not above a fiftieth.
    expect(bob.changesMargin(-20_001)).toBe("margin_needed");
    expect(bob.changesMargin(-20_000)).toBeNull();
    const before = venue.market().steepLongLots;
    alice.changesMargin(13_000);
    expect([before, venue.market().steepLongLots]).toEqual([500_000, 0]);
  });

  test("exits are never limited", () => {
    const { alice, bob } = filled(5, 20);
    bob.buys("limit", { size: 5, leverage: 1, price: 49_900 });
    expect(alice.sells("market", { size: 5, leverage: 50 })).toMatchObject({ filled: 5 });
  });
});

describe("open interest above 80 % of its bound", () => {
  /** At most $500,000 of longs: ten coins. */
  const BOUNDED: Listing = { ...BTC, config: { ...BTC.config, maxOpenInterestMicros: 500_000e6 } };

  for (const [coins, most] of [
    [8, 50],
    [8.00001, 5],
  ] as const) {
    test(`${coins} of ten coins are open: leverage ${most} at most`, () => {
      const { alice, bob } = pair({ markets: [BOUNDED] });
      bob.sells("limit", { size: coins, leverage: 1, price: 50_000 });
      alice.buys("limit", { size: coins, leverage: 1, price: 50_000 });
      const at = (leverage: number) => alice.buys("limit", { size: 0.1, leverage, price: 49_000 });
      expect(at(most).status).toBe("resting");
      expect(at(most === 50 ? 50 : 6).reason).toBe(most === 50 ? "none" : "leverage_limited");
    });
  }
});
