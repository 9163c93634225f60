/** Slots of the index: which update of a market counts, and how old it is. */
import { expect, test } from "vitest";
import type { VenueEvent } from "../../events/event-table.js";
import { Gateway } from "./gateways.js";
import { BTC, ETH } from "./listing.js";
import { START_MS, Venue } from "./venue.js";

const SLOT = START_MS / 200;

function index(venue: Venue, slot: number, indexTicks = 500_000): VenueEvent[] {
  return venue.apply({ kind: "UpdateIndex", stampMs: venue.now, market: 0, indexTicks, slot });
}

test("the first of a market and slot counts, of any gateway", () => {
  const venue = new Venue({ markets: [BTC, ETH], indexed: false });
  const b = new Gateway(venue, "b");
  index(venue, SLOT, 500_000);
  expect(venue.refusal).toBeNull();
  const update = { kind: "UpdateIndex", stampMs: venue.now, market: 0, slot: SLOT } as const;
  b.sends({ ...update, indexTicks: 400_000 });
  expect(venue.refusal).toBe("index_slot_passed");
  expect(venue.happened("CommandRefused")).toMatchObject([{ detail1: SLOT }]);
  b.sends({ ...update, indexTicks: 400_000, slot: SLOT - 1 });
  expect(venue.refusal).toBe("index_slot_passed");
  // Another market has its own.
  b.sends({ ...update, market: 1, indexTicks: 300_000 });
  expect(venue.refusal).toBeNull();
  expect(venue.market().index).toBe(500_000);
});

test("at most a second ahead of the last tick; a slot is a whole number", () => {
  const venue = new Venue({ indexed: false });
  for (const slot of [SLOT + 6, SLOT + 18_000]) {
    index(venue, slot);
    expect(venue.refusal).toBe("index_slot_ahead");
  }
  for (const slot of [SLOT + 0.5, Number.NaN, -1]) {
    index(venue, slot);
    expect(venue.refusal).toBe("index_slot_passed");
  }
  index(venue, SLOT + 5);
  expect(venue.refusal).toBeNull();
});

test("the index is as old as its slot", () => {
  const venue = new Venue();
  const alice = venue.trader("alice", 10_000);
  venue.waits(15);
  const buy = (): string => {
    const { status, reason } = alice.buys("limit", { margin: 10, price: 49_000 });
    return status === "refused" ? reason : status;
  };
  expect(buy()).toBe("stale_index");
  // Observed eight seconds ago: it is stale after two more.
  index(venue, venue.now / 200 - 40);
  expect(venue.refusal).toBeNull();
  expect(buy()).toBe("resting");
  venue.waits(2);
  expect(buy()).toBe("resting");
  venue.tick();
  expect(buy()).toBe("stale_index");
});

test("one that is held back has used its slot", () => {
  const venue = new Venue();
  venue.tick();
  index(venue, SLOT + 1, 250_000);
  expect(venue.happened("IndexHeld")).toHaveLength(1);
  index(venue, SLOT + 1, 500_000);
  expect(venue.refusal).toBe("index_slot_passed");
  index(venue, SLOT + 2, 500_000);
  expect(venue.happened("IndexUpdated")).toHaveLength(1);
});

test("in a halted market no slot is used", () => {
  const venue = new Venue();
  venue.controls("halt");
  venue.tick();
  index(venue, SLOT + 1);
  expect(venue.refusal).toBe("market_halted");
  venue.controls("resume");
  index(venue, SLOT + 1);
  expect(venue.refusal).toBeNull();
  expect(venue.market().awaitedIndexMs).toBe(0);
});
