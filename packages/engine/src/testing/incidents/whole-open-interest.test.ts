/**
 * dYdX, 10 October 2025. A single liquidation covered the entire open interest of an isolated
 * market. Collateral was moved before the insurance fund had covered the shortfall, the balance was
 * negative for a moment, and the chain halted itself for eight hours.
 *
 * Here: a liquidation is one command in which every step conserves money, no matter who takes the lots.
 * The market goes on.
 */
import { describe, expect, test } from "vitest";
import type { Trader } from "../scenarios/trader.js";
import { Venue } from "../scenarios/venue.js";
import { gapsTo, opensBoth, THIN } from "./scene.js";

interface Scene {
  readonly venue: Venue;
  readonly long: Trader;
  readonly short: Trader;
}

/** One long and one short are the whole market. */
function soleLong(fundSeedMicros: number): Scene {
  const venue = new Venue({ markets: [THIN], config: { fundSeedMicros } });
  const long = venue.trader("long", 20_000);
  const short = venue.trader("short", 200_000);
  opensBoth(venue, long, short, 200_000, 20, THIN);
  expect(long.position().size).toBe(2_000);
  return { venue, long, short };
}

function continues({ venue, long }: Scene): void {
  expect(long.position().size).toBe(0);
  expect(venue.market().halted).toBe(false);
  const buyer = venue.trader("buyer", 10_000);
  const seller = venue.trader("seller", 10_000);
  opensBoth(venue, buyer, seller, 1_000, 10, THIN);
  expect(buyer.position().size).toBeGreaterThan(0);
}

describe("the whole open interest of a market is liquidated in one trade", () => {
  test("taken by the book", () => {
    const scene = soleLong(1_000_000_000_000);
    scene.venue.index(97, THIN);
    scene.venue
      .trader("bidder", 500_000)
      .buys("limit", { margin: 300_000, price: 96.5, leverage: 1 });
    scene.venue.tick();
    expect(scene.venue.happened("Liquidated")[0]).toMatchObject({ backstopLots: 0 });
    continues(scene);
  });

  test("taken by the backstop", () => {
    const scene = soleLong(10_000_000_000_000);
    scene.venue.index(96, THIN);
    scene.venue.tick();
    expect(scene.venue.happened("Liquidated")[0]).toMatchObject({ deleveragedLots: 0 });
    expect(scene.venue.backstop().size).toBeGreaterThan(0);
    continues(scene);
  });

  test("deleveraged in full: the market is empty afterwards", () => {
    const scene = soleLong(0);
    gapsTo(scene.venue, 60, THIN);
    expect(scene.short.position().size).toBe(0);
    expect(scene.venue.backstop().size).toBe(0);
    expect(scene.venue.fund).toBeGreaterThanOrEqual(0);
    continues(scene);
  });
});
