/** Exits that were triggered and rest: found by a mutant that treated them as exits that wait. */
import { expect, test } from "vitest";
import { Venue } from "./venue.js";

test("an exit that rests shrinks in the book with its position, and ends with it", () => {
  const venue = new Venue();
  const alice = venue.trader("alice", 1_000_000);
  const bob = venue.trader("bob", 1_000_000);
  bob.sells("limit", { size: 2, price: 50_000 });
  alice.buys("market", { size: 2, profitAt: [51_000, 51_200] });
  venue.index(51_000);
  venue.tick();
  expect(venue.best().ask).toEqual([51_200, 2]);
  bob.buys("limit", { size: 0.5, price: 50_900 });
  alice.sells("market", { size: 0.5 });
  expect(venue.best().ask).toEqual([51_200, 1.5]);
  bob.buys("limit", { size: 1.5, price: 50_900 });
  alice.sells("market", { size: 1.5 });
  expect(venue.ended().map(([, reason]) => reason)).toContain("position_closed");
  expect([venue.best().ask, alice.openOrders()]).toEqual([null, 0]);
});
