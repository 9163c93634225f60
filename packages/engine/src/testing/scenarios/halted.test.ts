/** A market that was halted: nothing trades there, everything can be withdrawn, others go on. */
import { expect, test } from "vitest";
import { ETH, UNGUARDED } from "./listing.js";
import { Venue } from "./venue.js";

/** An index so high that Alice's position cannot be valued any more halts BTCUSD at the tick. */
function halted() {
  const venue = new Venue({ markets: [UNGUARDED, ETH] });
  const alice = venue.trader("alice", 1_000_000);
  const bob = venue.trader("bob", 1_000_000);
  bob.sells("limit", { margin: 80_000, price: 50_000 });
  alice.buys("limit", { margin: 80_000, price: 50_000 });
  const bid = alice.buys("limit", { margin: 1_000, price: 49_000 });
  const stop = alice.sells("stop", { margin: 1_000, price: 40_000 });
  venue.index(2 ** 33 / 10, UNGUARDED);
  venue.tick();
  expect(venue.happened("MarketHalted")).toMatchObject([{ market: 0, invariant: 5 }]);
  return { venue, alice, bob, bid, stop };
}

test("orders and indexes are refused there, cancels are not", () => {
  const { venue, alice, bid, stop } = halted();
  expect(alice.buys("limit", { margin: 100, price: 49_000 }).reason).toBe("market_halted");
  const close = { margin: 1e6, price: 50_000, reduceOnly: true };
  expect(alice.sells("limit", close).reason).toBe("market_halted");
  venue.index(50_000, UNGUARDED);
  expect(venue.refusal).toBe("market_halted");
  const before = alice.wallet;
  expect(alice.cancels(bid.orderId)).toBeNull();
  expect(alice.cancels(stop.orderId)).toBeNull();
  expect(alice.wallet).toBeGreaterThan(before);
  expect(alice.reserved()).toBe(0);
});

test("positions stay as they are: no liquidation, no funding, no stops", () => {
  const { venue, alice, bob } = halted();
  const positions = [alice.position(), bob.position()];
  venue.resumes(venue.now + 2 * 3_600_000);
  venue.refreshesIndex();
  venue.tick();
  expect(venue.happened("FundingApplied").map((event) => event.market)).toEqual([1, 1]);
  venue.waits(3);
  expect([alice.position(), bob.position()]).toEqual(positions);
  expect(alice.openOrders()).toBe(2);
});

test("other markets trade on; the dead-man's switch and cancel-all reach into the halted one", () => {
  const { venue, alice, bob } = halted();
  bob.sells("limit", { margin: 400, price: 4_000, market: ETH });
  const answer = alice.buys("market", { margin: 400, market: ETH });
  expect(answer).toMatchObject({ status: "filled", filled: 1 });
  venue.apply({ kind: "CancelAll", stampMs: venue.now, session: alice.session, market: -1 });
  expect(venue.events.at(-1)).toMatchObject({ kind: "AllCanceled", count: 2 });
});
