/** Figures beyond the safe integers: who is halted, and that nothing is left half done. */
import { describe, expect, test } from "vitest";
import { Engine } from "../../engine.js";
import { BTC, ETH, type Listing, SOL, UNGUARDED } from "../scenarios/listing.js";
import type { Trader } from "../scenarios/trader.js";
import { Venue } from "../scenarios/venue.js";

/** A venue whose money on hand is within 7 % of 2^53: winners realised before losers paid. */
function nearlyFull(): Venue {
  const tiers = [{ upToMicros: 9e14, maxLeverage: 50, maintenancePpm: 10_000 }];
  const config = { ...UNGUARDED.config, tiers, takerFeePpm: 0, makerFeePpm: 0 };
  const big: Listing = { ...BTC, config };
  // Version 2: later ones refuse such leverage where the fund is small for it.
  const venue = new Venue({ markets: [ETH, big], config: { fundSeedMicros: 0 }, version: 2 });
  for (let i = 0; i < 10; i++) {
    // Time passes without a tick, which would liquidate the losers.
    venue.pauses(venue.now + 2_000);
    venue.index(50_000, big);
    const winner = venue.trader(`winner ${i}`, 3e7);
    const loser = venue.trader(`loser ${i}`, 3e7);
    const third = venue.trader(`third ${i}`, 3e7);
    loser.buys("limit", { margin: 1.7e7, leverage: 50, price: 50_000, market: big });
    winner.sells("limit", { margin: 1.7e7, leverage: 50, price: 50_000, market: big });
    venue.index(5_000, big);
    third.sells("limit", { margin: 1.7e6, leverage: 50, price: 5_000, market: big });
    winner.buys("market", { margin: 1.7e7, leverage: 50, reduceOnly: true, market: big });
  }
  expect(venue.engine.state.totals.wallets).toBeGreaterThan(0.92 * 2 ** 53);
  return venue;
}

test("tick: an index beyond the safe integers halts its own market, not the others", () => {
  const venue = new Venue({ markets: [UNGUARDED, ETH, SOL] });
  const alice = venue.trader("alice", 100_000);
  const bob = venue.trader("bob", 100_000);
  bob.sells("limit", { margin: 80_000, leverage: 10, price: 50_000 });
  alice.buys("limit", { margin: 80_000, leverage: 10, price: 50_000 });
  venue.index(2 ** 33 / 10);
  venue.tick();
  expect(venue.happened("MarketHalted").map((event) => event.market)).toEqual([0]);
});

describe("a figure of the checks beyond the safe integers halts its own market, not the first", () => {
  const market = UNGUARDED;
  /** The lowest price of a bid at the highest index that there is. */
  const price = 85_899_346;
  const flip = { size: 11.5, market };

  /** Alice is short 11 coins and has a bid; 12 are offered; no tick follows the index. */
  function beyond(): { venue: Venue; alice: Trader; bid: number } {
    const venue = new Venue({ markets: [ETH, market] });
    const alice = venue.trader("alice", 1_000_000);
    const bob = venue.trader("bob", 1_000_000);
    bob.buys("limit", { size: 11, price: 50_000, market });
    alice.sells("market", { size: 11, market });
    bob.sells("limit", { size: 12, price: 50_000, market });
    const { orderId } = alice.buys("limit", { ...flip, price: 49_000 });
    venue.index(2 ** 33 / 10, market);
    return { venue, alice, bid: orderId };
  }

  const commands: [name: string, send: (alice: Trader, bid: number) => string | null][] = [
    ["a change of margin", (alice) => alice.changesMargin(-1, { market: 1 })],
    ["an order", (alice) => alice.buys("limit", { ...flip, price }).reason],
    [
      "an amendment",
      (alice, bid) => alice.amends(bid, {}, { market: 1, priceTicks: price * 10 }).reason,
    ],
  ];
  for (const [name, send] of commands) {
    test(name, () => {
      const { venue, alice, bid } = beyond();
      expect(send(alice, bid)).toBe("market_halted");
      expect(venue.happened("MarketHalted").map((event) => event.market)).toEqual([1]);
    });
  }
});

test("deposit: money that would pass the safe integers is refused whole, and halts nothing", () => {
  const venue = nearlyFull();
  const alice = venue.trader("alice");
  alice.deposits(1e9);
  const settled = [...venue.engine.state.deposits.byId.values()].at(-1)!;
  expect(venue.happened("MarketHalted")).toEqual([]);
  expect({ status: settled.status, wallet: alice.wallet }).toEqual({
    status: "rejected",
    wallet: 0,
  });
});

test("deposit: a restored engine answers one that is too large as the live one does", () => {
  const venue = nearlyFull();
  const alice = venue.trader("alice");
  const restored = Engine.restore(venue.engine.snapshot());
  const live: unknown[] = [];
  const apply = venue.apply.bind(venue);
  venue.apply = (command) => {
    apply(command);
    expect(venue.repeats(restored, command)).toEqual(venue.events);
    live.push(...venue.events);
    return venue.events;
  };
  alice.deposits(1e9);
  expect(live.length).toBeGreaterThan(0);
  expect(restored.snapshot()).toEqual(venue.engine.snapshot());
});

test("index: a trader's far ask does not halt a market whatever its index", () => {
  const venue = new Venue({ markets: [UNGUARDED] });
  // The highest index that there is.
  const price = 2 ** 33 / 10;
  venue.index(price);
  expect(venue.mark()).toBe(price);
  const alice = venue.trader("alice", 1_000_000_000);
  const far = { margin: 700_000, leverage: 1, price: price * 10 };
  expect(alice.sells("limit", far).status).toBe("resting");
  expect(alice.buys("limit", { margin: 70_000, leverage: 1, price }).status).toBe("resting");
  venue.resumes(venue.now + 200_000);
  venue.index(price);
  expect(venue.happened("IndexUpdated")).toHaveLength(1);
  venue.tick();
  expect(venue.status()).toBe("active");
});
