/**
 * Found in a trial of version 2: each tick compared all stops that wait (1,000,000 reached ones took it 73
 * to 82 ms), and chose the largest of each account again, so that accounts with many large stops stayed in
 * front of one with a small one until theirs were used up.
 */
import { describe, expect, test, vi } from "vitest";
import { STOP_LINES, StopLines } from "../../state/stop-lines.js";
import { LightVenue } from "../rules/light-venue.js";
import type { Trader } from "../scenarios/trader.js";

const REACHED = 49_600;

/** A market with bids that take everything. */
function venueWithBids(version: number): LightVenue {
  const venue = new LightVenue({ version });
  const rich = venue.trader("rich", 900_000_000);
  rich.sells("limit", { size: 200, leverage: 10, price: 50_000 });
  rich.buys("limit", { size: 200, leverage: 10, price: 49_000 });
  return venue;
}

/** Long, with stops below the market for all that it has. */
function holder(venue: LightVenue, name: string, size: number, stops: number): Trader {
  const trader = venue.trader(name, 100_000);
  expect(trader.buys("market", { size, leverage: 1 }).status).toBe("filled");
  const stop = { size, leverage: 1, price: 49_900, reduceOnly: true };
  for (let i = 0; i < stops; i++) expect(trader.sells("stop", stop).status).toBe("pending");
  return trader;
}

/** Stops that open, of accounts with some money. */
function opens(venue: LightVenue, accounts: number, stops: number): void {
  for (let i = 0; i < accounts; i++) {
    const trader = venue.trader(`opener ${i}`, 100_000);
    const stop = { size: 1, leverage: 50, price: 49_900 };
    for (let k = 0; k < stops; k++) expect(trader.sells("stop", stop).status).toBe("pending");
  }
}

function ticksUntilFlat(venue: LightVenue, trader: Trader): number {
  for (let ticks = 1; ; ticks++) {
    venue.index(REACHED);
    venue.tick();
    if (trader.position().size === 0) return ticks;
    expect(ticks).toBeLessThan(100);
  }
}

/** 300 accounts with stops for parts of what they hold, all larger than the honest one's. */
function partial(venue: LightVenue): void {
  for (let i = 0; i < 300; i++) {
    const trader = venue.trader(`crowd ${i}`, 100_000);
    expect(trader.buys("market", { size: 0.5, leverage: 1 }).status).toBe("filled");
    const stop = { size: 0.025, leverage: 1, price: 49_900, reduceOnly: true };
    for (let k = 0; k < 20; k++) expect(trader.sells("stop", stop).status).toBe("pending");
  }
}

describe("an honest stop-loss of $1,000 behind 6,000 larger ones of 300 accounts", () => {
  test.each([
    { name: "before", version: 2, ticks: 21 },
    { name: "after", version: 3, ticks: 2 },
  ])("version $version, $name: served with tick $ticks", ({ version, ticks }) => {
    const venue = venueWithBids(version);
    partial(venue);
    const honest = holder(venue, "honest", 0.02, 1);
    expect(ticksUntilFlat(venue, honest)).toBe(ticks);
  });
});

describe("version 3: what a tick looks at", () => {
  test("20,000 that wait: as many as it serves, and the lines; the honest one is first", () => {
    const venue = venueWithBids(3);
    opens(venue, 100, 200);
    const honest = holder(venue, "honest", 0.02, 1);
    venue.index(REACHED);
    const next = vi.spyOn(StopLines.prototype, "next");
    venue.tick();
    const looked = next.mock.calls.length;
    next.mockRestore();
    expect(honest.position().size).toBe(0);
    expect(venue.happened("StopTriggered")).toHaveLength(256);
    expect(looked).toBeLessThan(256 + 2 * STOP_LINES);
  });

  test("at most 4,096, also of stops that no longer close what their line says: these go last", () => {
    const venue = venueWithBids(3);
    const crowd = Array.from({ length: 5_000 }, (_, i) => holder(venue, `crowd ${i}`, 0.02, 1));
    // All but a hundredth is closed: their stops are for more than a hundred times what they hold.
    for (const trader of crowd) {
      expect(trader.sells("market", { size: 0.01999, leverage: 1 }).status).toBe("filled");
    }
    const honest = holder(venue, "honest", 0.02, 1);
    venue.index(REACHED);
    venue.tick();
    expect(venue.happened("StopTriggered")).toHaveLength(0);
    venue.restarts();
    venue.index(REACHED);
    venue.tick();
    expect(honest.position().size).toBe(0);
  });
});
