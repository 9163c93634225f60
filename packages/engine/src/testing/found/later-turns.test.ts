/**
 * Found with a million reached stops next to a live venue: the 256 stops, and the 256 liquidations, that a
 * tick serves were counted for all turns together. An account that needed more than one turn waited until nobody was
 * left who needed one: behind a million stops that trade nothing for 13 minutes.
 */
import { describe, expect, test } from "vitest";
import { LightVenue } from "../rules/light-venue.js";
import { BTC, MICROS } from "../scenarios/listing.js";
import type { Trader } from "../scenarios/trader.js";
import { START_MS } from "../scenarios/venue.js";

const HOUR_1 = START_MS + 3_600_000;
const WALL = 49_040;
const DUE = 49_050;
const LOT = 0.00001;

function venueWithOffers(): LightVenue {
  const venue = new LightVenue({
    markets: [BTC],
    config: { attestorKind: "dev", devCreditMicros: 5_000_000 * MICROS },
  });
  venue.trader("seller").sells("limit", { size: 20, leverage: 10, price: 50_000 });
  return venue;
}

/** Bids of one lot, at most 500 of each account. */
function wall(venue: LightVenue, orders: number): void {
  for (let i = 0, maker = venue.trader("wall 0"); i < orders; i++) {
    if (i > 0 && i % 500 === 0) maker = venue.trader(`wall ${i}`);
    venue.apply(maker.order(1, "limit", { size: LOT, leverage: 1, price: WALL }));
  }
}

/** Long at $50,000, at 50× with a margin of 2 %. */
function long(venue: LightVenue, name: string, size: number, leverage = 50): Trader {
  const trader = venue.trader(name);
  expect(trader.buys("market", { size, leverage }).status).toBe("filled");
  return trader;
}

describe("a turn after the first one is not held up by those that have had none", () => {
  test("a stop of 30 makers, next to 800 reached stops that trade nothing", () => {
    const venue = venueWithOffers();
    const careful = long(venue, "careful", 30 * LOT, 1);
    careful.sells("stop", { size: 30 * LOT, leverage: 1, price: 49_500, reduceOnly: true });
    const opens = { size: 0.001, leverage: 1, price: 49_500, limit: 49_400 } as const;
    for (let i = 0; i < 40; i++) {
      const other = venue.trader(`other ${i}`);
      for (let n = 0; n < 20; n++) other.sells("stop", { ...opens, timeInForce: "ioc" });
    }
    wall(venue, 100);
    venue.index(DUE);
    venue.tick();
    expect(venue.happened("StopTriggered")).toHaveLength(256 + 1);
    expect(careful.position().size).toBe(0);
  });

  test("a stop that closes, behind those that open and have had their first turn before it was placed", () => {
    const venue = venueWithOffers();
    const careful = long(venue, "careful", 30 * LOT, 1);
    const opens = { size: 1_000 * LOT, leverage: 50, price: 49_900 };
    for (let i = 0; i < 40; i++) venue.trader(`other ${i}`).sells("stop", opens);
    wall(venue, 30_000);
    venue.index(DUE);
    venue.tick();
    expect(venue.happened("StopTriggered").length).toBeGreaterThan(20);
    const close = { size: 30 * LOT, leverage: 1, price: 49_000, reduceOnly: true };
    expect(careful.sells("stop", close).status).toBe("pending");
    venue.index(48_900);
    let ticks = 0;
    for (; careful.position().size > 0; ticks++) venue.tick();
    expect(ticks).toBe(1);
  });

  test("a liquidation that needs two turns, next to 700 that need one", () => {
    const venue = venueWithOffers();
    const large = long(venue, "large", 40 * LOT);
    for (let i = 0; i < 700; i++) long(venue, `small ${i}`, 3 * LOT);
    wall(venue, 400);
    venue.index(DUE);
    venue.tick();
    const ofLarge = venue.happened("Liquidated").filter((each) => each.account === large.account);
    expect(ofLarge.length).toBeGreaterThanOrEqual(2);
  });
});

test("at the end of a funding hour, too, orders wait while liquidations of a jump are left", () => {
  const venue = venueWithOffers();
  const careful = long(venue, "careful", 0.01, 1);
  // Each is short of more than ten dollars after the jump, and a tick has 256.
  for (let i = 0; i < 300; i++) long(venue, `due ${i}`, 0.02);
  venue.tick();
  venue.skipsTo(HOUR_1);
  venue.index(48_500);
  venue.tick();
  expect(venue.happened("FundingApplied")).toHaveLength(1);
  expect(venue.happened("Liquidated")).toHaveLength(256);
  expect(careful.sells("market", { size: 0.001, leverage: 1 }).reason).toBe("index_held");
  venue.tick();
  expect(careful.sells("market", { size: 0.001, leverage: 1 }).reason).not.toBe("index_held");
});
