/**
 * XPL on Hyperliquid, 26 August 2025. One trader swept the thin book of a coin that had no spot
 * market yet. The mark followed the venue's own book up by two and a half times within minutes, and
 * the shorts were liquidated at those prices.
 *
 * Here: the mark lies within half the lowest maintenance rate of the index, whatever the book does,
 * and nothing trades outside the band around it.
 */
import { expect, test } from "vitest";
import { Venue } from "../scenarios/venue.js";
import { opensBoth, THIN } from "./scene.js";

test("a swept book: the mark stays near the index and no short is liquidated", () => {
  const venue = new Venue({ markets: [THIN] });
  const maker = venue.trader("maker", 100_000);
  const shorts = Array.from({ length: 10 }, (_, i) => venue.trader(`short ${i}`, 1_000));
  const longs = Array.from({ length: 10 }, (_, i) => venue.trader(`long ${i}`, 1_000));
  shorts.forEach((short, i) => {
    opensBoth(venue, longs[i]!, short, 8_000, 10, THIN);
    expect(short.position().size).toBeLessThan(0);
  });
  // A thin book up to two and a half times the price.
  for (const price of [100.5, 102, 104, 110, 150, 200, 250]) {
    maker.sells("limit", { margin: 500, leverage: 1, price });
  }
  const whale = venue.trader("whale", 1_000_000);
  const swept = whale.buys("market", { margin: 20_000, leverage: 1 });
  expect(swept.reason).toBe("band");
  // It keeps bidding as high as the band allows, for ten minutes.
  for (let i = 0; i < 3_000; i++) {
    if (i % 25 === 0) {
      venue.index(100);
      whale.buys("limit", { margin: 100, leverage: 1, price: Math.floor(venue.mark() * 1.049) });
    }
    venue.tick();
    expect(venue.mark()).toBeLessThanOrEqual(101.25);
    expect(venue.happened("Liquidated")).toEqual([]);
  }
  for (const short of shorts) expect(short.position().size).toBeLessThan(0);
});
