/**
 * Found while ticks were given turns: under version 3 each market serves 256 stops of a tick, but the
 * places in the queue that a command gives away were counted for all markets together. From the 257th on
 * an order had the rank of a later command: its snapshot was unreadable, or a restore queued it behind
 * orders that came after it.
 */
import { expect, test } from "vitest";
import { LightVenue } from "../rules/light-venue.js";
import { BTC, ETH } from "../scenarios/listing.js";

test("a tick lets 200 stops with a limit rest in each of two markets: a restore keeps their queue", () => {
  const venue = new LightVenue({ markets: [BTC, ETH] });
  const alice = venue.trader("alice", 1_000_000);
  const bob = venue.trader("bob", 10_000);
  for (const market of [BTC, ETH]) {
    const price = market.startPrice + 10;
    // The limit is below the market, where nobody sells.
    const stop = { size: 0.1, leverage: 10, price, limit: market.startPrice - 20, market };
    for (let i = 0; i < 200; i++) expect(alice.buys("stop", stop).status).toBe("pending");
    venue.index(price, market);
  }
  venue.tick();
  expect(venue.happened("OrderRested")).toHaveLength(400);
  venue.restarts();
  // Queued behind all of them.
  const price = ETH.startPrice - 20;
  const late = bob.buys("limit", { size: 0.1, price, market: ETH });
  venue.restarts();
  const size = 0.1 * 200;
  venue.trader("carol", 1_000_000).sells("limit", { size, leverage: 1, price, market: ETH });
  expect(venue.happened("Traded").map((trade) => trade.makerOrderId)).not.toContain(late.orderId);
  expect(venue.happened("Traded")).toHaveLength(200);
});
