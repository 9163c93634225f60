/**
 * Stops that were reached and did not fit into the tick: a snapshot must not forget them, and a tick
 * that fails and is undone must leave them as they were.
 */
import { expect, test } from "vitest";
import { audit } from "../../audit.js";
import { Engine } from "../../engine.js";
import { SABOTAGES, strikeAt } from "../faults/sabotage.js";
import { BTC, ETH } from "../scenarios/listing.js";
import { Venue } from "../scenarios/venue.js";

/** 300 stops of Carol in BTC were reached; 44 of them wait, and the mark is back above them. */
function waiting() {
  const venue = new Venue({ markets: [BTC, ETH] });
  const bob = venue.trader("bob", 10_000_000);
  const carol = venue.trader("carol", 1_000_000);
  bob.buys("limit", { margin: 1_000_000, leverage: 1, price: 49_000 });
  const ids = Array.from({ length: 300 }, () => {
    return carol.sells("stop", { margin: 500, leverage: 1, price: 49_800 }).orderId;
  });
  venue.index(49_790);
  venue.tick();
  venue.index(50_000);
  // Younger than the tick: the mark has not reached it.
  const younger = carol.sells("stop", { margin: 500, leverage: 1, price: 49_800 }).orderId;
  return { venue, bob, carol, left: ids.slice(256), younger };
}

function triggered(venue: Venue): number[] {
  return venue.happened("StopTriggered").map((event) => event.orderId);
}

test("waiting stops: they trigger in the next tick although the mark has moved back", () => {
  const { venue, left, younger } = waiting();
  venue.tick();
  expect(triggered(venue)).toEqual(left);
  expect(venue.engine.state.orders.index.get(younger)).toBeGreaterThanOrEqual(0);
  expect(venue.engine.state.reaches.size).toBe(0);
});

test("waiting stops: a restored venue triggers the same ones", () => {
  const { venue, left, younger } = waiting();
  venue.restarts();
  expect(audit(venue.engine)).toEqual([]);
  venue.tick();
  expect(triggered(venue)).toEqual(left);
  venue.index(49_790);
  venue.tick();
  expect(triggered(venue)).toEqual([younger]);
});

test("waiting stops: they wait while the index is stale, and trigger when it is fresh again", () => {
  const { venue, left } = waiting();
  venue.resumes(venue.now + 11_000);
  venue.tick();
  expect(triggered(venue)).toEqual([]);
  venue.index(50_000);
  venue.tick();
  expect(triggered(venue)).toEqual(left);
});

test("waiting stops: a tick that served them and then failed is undone, and serves them again", () => {
  const { venue, bob, carol, left } = waiting();
  bob.sells("limit", { margin: 10_000, leverage: 1, price: 4_000, market: ETH });
  carol.buys("stop", { margin: 100, leverage: 1, price: 4_001, market: ETH });
  venue.index(4_001, ETH);
  // Carol's smallest stop is served last; the money that appears in it is found at the end of the
  // tick.
  const micro = SABOTAGES.find((each) => each.name.startsWith("a micro that appears"))!;
  const before = venue.engine.snapshot();
  let calls = 0;
  micro.during(
    () => calls++,
    () => void Engine.restore(before).apply({ kind: "Tick", slot: slotOf(venue) }),
  );
  strikeAt(micro, calls, () => venue.tick());
  expect(venue.happened("MarketHalted").map((event) => event.market)).toEqual([1]);
  expect(triggered(venue)).toEqual(left);
  expect(venue.engine.state.reaches.size).toBe(0);
});

function slotOf(venue: Venue): number {
  return venue.engine.state.lastTickMs / 200 + 1;
}

test("waiting stops: no longer amendable, though the mark has moved back; cancels work", () => {
  const { carol, left, younger } = waiting();
  expect(carol.amends(left[0]!, { price: 49_700 }).reason).toBe("order_not_amendable");
  expect(carol.amends(younger, { price: 49_700 }).status).toBe("pending");
  expect(carol.cancels(left[0]!)).toBeNull();
});
