/**
 * JELLY on Hyperliquid, 26 March 2025. A trader sold a small coin short to itself and let the short
 * be liquidated. The vault that took it over shared its collateral with the vaults of all other
 * markets, so its growing loss never caused deleveraging, while the coin was bought up four times.
 *
 * Here: where the bankruptcy price is worse than the mark, the backstop takes over no more loss than
 * 2 % of the fund in an hour, over all markets together. The rest is deleveraged against the winners
 * of that market: the attacker's own long. Margin is isolated, so no other market is touched. Open
 * interest is capped by market.
 */
import { describe, expect, test } from "vitest";
import { Venue } from "../scenarios/venue.js";
import { BTC, BUDGET, fundValue, gapsTo, opensBoth, THIN, wealth } from "./scene.js";

/** Fees of the fund's own trades and rounding. */
const CENT = 0.01;

function attack() {
  const venue = new Venue({ markets: [BTC, THIN] });
  const bystanders = [venue.trader("bystander", 10_000), venue.trader("other", 10_000)] as const;
  opensBoth(venue, bystanders[0], bystanders[1], 20_000, 10, BTC);
  const ring = [venue.trader("long", 13_000), venue.trader("short", 13_000)] as const;
  opensBoth(venue, ring[0], ring[1], 240_000, 20, THIN);
  expect(ring[1].position(THIN).size).toBeLessThan(-2_000);
  return { venue, bystanders, ring };
}

describe("a position made to be handed to the backstop", () => {
  test("a gap of 40 %: the fund loses its hourly budget at most, the ring gains no more", () => {
    const { venue, bystanders, ring } = attack();
    const before = { fund: fundValue(venue), ring: wealth(...ring) };
    gapsTo(venue, 140, THIN);
    expect(ring[1].position(THIN).size).toBe(0);
    expect(fundValue(venue)).toBeGreaterThanOrEqual(before.fund - BUDGET - CENT);
    expect(wealth(...ring)).toBeLessThanOrEqual(before.ring + BUDGET + CENT);
    // Most of the short was closed against the ring's own long.
    expect(ring[0].position(THIN).size).toBeLessThan(1_200);
    expect(wealth(...bystanders)).toBeCloseTo(20_000 - 20_000 * 0.0007, 2);
  });

  test("a second attack in the same hour: nothing is left of the budget", () => {
    const { venue } = attack();
    gapsTo(venue, 140, THIN);
    const held = Math.abs(venue.backstop(THIN).size);
    const value = fundValue(venue);
    const again = [venue.trader("long 2", 13_000), venue.trader("short 2", 13_000)] as const;
    opensBoth(venue, again[0], again[1], 120_000, 10, THIN);
    gapsTo(venue, 196, THIN);
    expect(again[1].position(THIN).size).toBe(0);
    expect(Math.abs(venue.backstop(THIN).size)).toBeLessThanOrEqual(held);
    // Its present position may lose with the price; nothing is added.
    expect(fundValue(venue)).toBeGreaterThanOrEqual(value - held * 56 - CENT);
  });

  test("open interest of the market is capped, however much money the ring has", () => {
    const venue = new Venue({ markets: [BTC, THIN] });
    const long = venue.trader("long", 10_000_000);
    const short = venue.trader("short", 10_000_000);
    for (let i = 0; i < 5; i++) opensBoth(venue, long, short, 150_000, 5, THIN);
    expect(long.position(THIN).size * 100).toBeLessThanOrEqual(400_000);
    expect(long.position(THIN).size * 100).toBeGreaterThan(399_000);
  });
});
