/** An index older than ten seconds of log time: nothing opens, everything can be left. */
import { expect, test } from "vitest";
import { BTC, ETH } from "./listing.js";
import { Venue } from "./venue.js";

function stale() {
  const venue = new Venue({ markets: [BTC, ETH] });
  const alice = venue.trader("alice", 10_000);
  const bob = venue.trader("bob", 100_000);
  bob.sells("limit", { margin: 5_000, price: 50_000 });
  alice.buys("market", { margin: 5_000 });
  return { venue, alice, bob };
}

test("an index of exactly ten seconds is fresh, of 10.2 seconds stale", () => {
  const { venue, alice } = stale();
  venue.waits(10);
  const order = { margin: 100, price: 49_000 };
  expect(alice.buys("limit", order).status).toBe("resting");
  venue.tick();
  expect(alice.buys("limit", order).reason).toBe("stale_index");
  venue.refreshesIndex();
  expect(alice.buys("limit", order).status).toBe("resting");
});

test("while stale: opening is refused in that market only; reductions and cancels go on", () => {
  const { venue, alice, bob } = stale();
  const bid = bob.buys("limit", { margin: 5_000, price: 49_900 });
  venue.waits(11);
  venue.index(4_000, ETH);
  expect(alice.buys("limit", { margin: 100, price: 49_000 }).reason).toBe("stale_index");
  expect(alice.buys("stop", { margin: 100, price: 51_000 }).reason).toBe("stale_index");
  expect(alice.buys("limit", { margin: 100, price: 4_000, market: ETH }).status).toBe("resting");
  const half = alice.sells("market", { margin: 2_495 });
  expect(half).toMatchObject({ status: "filled", filled: 0.5 });
  // A sale that would flip has an opening part.
  expect(alice.sells("limit", { margin: 5_000, price: 50_000 }).reason).toBe("stale_index");
  expect(bob.cancels(bid.orderId)).toBeNull();
});

test("no index yet: refused as stale", () => {
  const venue = new Venue({ indexed: false });
  const alice = venue.trader("alice", 1_000);
  expect(alice.buys("limit", { margin: 100, price: 50_000 }).reason).toBe("stale_index");
  venue.index(50_000);
  expect(alice.buys("limit", { margin: 100, price: 50_000 }).status).toBe("resting");
});

test("stops and liquidations wait for a fresh index", () => {
  const { venue, alice, bob } = stale();
  bob.sells("limit", { margin: 5_200, price: 52_000 });
  alice.buys("stop", { margin: 500, price: 51_000 });
  venue.index(51_500);
  // Both due now, but the next ticks come when the index is stale.
  venue.resumes(venue.now + 20_000);
  expect(venue.tick().map((event) => event.kind)).toEqual(["BlockSealed"]);
  venue.index(44_000);
  venue.resumes(venue.now + 20_000);
  venue.tick();
  expect(alice.position().size).toBe(1);
  venue.index(44_000);
  venue.tick();
  expect(venue.happened("Liquidated").map((event) => event.account)).toEqual([alice.account]);
});

test("refusals: an index that is no price, or of no market", () => {
  const { venue } = stale();
  const slot = venue.now / 200;
  for (const indexTicks of [0, -1, 1.5, 2 ** 37, Number.NaN]) {
    venue.apply({ kind: "UpdateIndex", stampMs: venue.now, market: 0, indexTicks, slot });
    expect(venue.refusal).toBe("index_invalid");
  }
  venue.apply({ kind: "UpdateIndex", stampMs: venue.now, market: 9, indexTicks: 1, slot });
  expect(venue.refusal).toBe("market_unknown");
  expect(venue.mark()).toBe(50_000);
});
