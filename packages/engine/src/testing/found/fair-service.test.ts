/**
 * Queue jumping: many small accounts must not delay the liquidation or the stop-loss that matters.
 */
import { expect, test } from "vitest";
import { audit } from "../../audit.js";
import { LightVenue } from "../rules/light-venue.js";
import { MICROS } from "../scenarios/listing.js";
import type { Trader } from "../scenarios/trader.js";

/** Each trader has $200,000. */
function crowdedVenue(): LightVenue {
  return new LightVenue({ config: { attestorKind: "dev", devCreditMicros: 200_000 * MICROS } });
}

test("liquidation: $900,000 behind 10,000 accounts of a cent each is served in the first tick", () => {
  const venue = crowdedVenue();
  venue.trader("seller").sells("limit", { margin: 100_000, price: 50_000 });
  const long = { leverage: 50, price: 50_000 };
  for (let i = 0; i < 10_000; i++) venue.trader(`${i}`).buys("limit", { ...long, margin: 0.02 });
  const whale = venue.trader("whale");
  whale.buys("limit", { ...long, margin: 18_000 });
  venue.index(49_400);
  venue.tick();
  const served = venue.happened("Liquidated").map(({ account }) => account);
  expect(served.length).toBe(256);
  expect(served[0]).toBe(whale.account);
  expect(audit(venue.engine)).toEqual([]);
});

test("stops: one that closes, behind 20,000 larger ones that open, triggers in the first tick", () => {
  const venue = crowdedVenue();
  const seller = venue.trader("seller");
  seller.sells("limit", { margin: 10_000, price: 50_000 });
  seller.buys("limit", { margin: 10_000, price: 49_000 });
  const crowding = Array.from({ length: 100 }, (_, i) => venue.trader(`${i}`));
  const owners = new Map<number, number>();
  for (const trader of crowding) {
    for (let i = 0; i < 200; i++) {
      const stop = trader.sells("stop", { margin: 5_000, leverage: 1, price: 49_900 });
      owners.set(stop.orderId, trader.account);
    }
  }
  expect(owners.size).toBe(20_000);
  const holder = venue.trader("holder");
  holder.buys("limit", { margin: 1_000, leverage: 1, price: 50_000 });
  // As many lots as it holds: a money-sized stop at the lower price would have more.
  const { orderId } = holder.sells("stop", { margin: 998, leverage: 1, price: 49_900 });
  venue.index(49_900);
  venue.tick();
  const served = venue.happened("StopTriggered").map((event) => event.orderId);
  expect(served.length).toBe(256);
  expect(served[0]).toBe(orderId);
  // One of each of the 101 accounts before a second one of anybody.
  expect(new Set(served.slice(1, 101).map((id) => owners.get(id))).size).toBe(100);
  expect(audit(venue.engine)).toEqual([]);
});

test("a protection that the book can take is tried again behind 64 larger ones that it would bankrupt", () => {
  const venue = crowdedVenue();
  const seller = venue.trader("seller");
  const { orderId } = seller.sells("limit", { margin: 100_000, price: 50_000 });
  const enters = (name: string, margin: number, leverage: number): Trader => {
    const trader = venue.trader(name);
    trader.buys("limit", { margin, leverage, price: 50_000 });
    trader.sells("stop", { margin: 0, leverage: 1, price: 49_900, closePosition: true });
    return trader;
  };
  // $11,000 each, bankrupt at $49,000; and $5,000, bankrupt at $40,000.
  const large = Array.from({ length: 64 }, (_, i) => enters(`${i}`, 220, 50));
  const careful = enters("careful", 1_000, 5);
  seller.cancels(orderId);
  venue.index(49_900);
  venue.tick();
  expect(venue.happened("StopTriggered")).toHaveLength(65);
  venue.trader("buyer").buys("limit", { margin: 50_000, price: 48_900 });
  venue.tick();
  expect(venue.happened("Liquidated")).toEqual([]);
  expect(careful.position().size).toBe(0);
  expect(large.every((trader) => trader.position().size === 0.22)).toBe(true);
  // What is left of them is tried as soon as the book can take it.
  venue.trader("rescuer").buys("limit", { margin: 100_000, price: 49_600 });
  venue.tick();
  expect(large.every((trader) => trader.position().size === 0)).toBe(true);
  expect(audit(venue.engine)).toEqual([]);
});
