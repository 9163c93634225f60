/**
 * dYdX, 10 October 2025, second part. When the chain came back, validators had not restarted their
 * price services. Trades and liquidations ran on prices from before the halt.
 *
 * Here: after a start or a resume nothing is liquidated or triggered before a fresh index.
 */
import { describe, expect, test } from "vitest";
import type { Trader } from "../scenarios/trader.js";
import { Venue } from "../scenarios/venue.js";

interface Scene {
  readonly venue: Venue;
  readonly long: Trader;
  readonly stop: number;
}

/** The last index before the halt makes a long due and reaches its stop-loss. */
function haltedAtTheLow(): Scene {
  const venue = new Venue();
  const rich = venue.trader("rich", 1_000_000);
  rich.sells("limit", { margin: 50_000, price: 50_000 });
  const long = venue.trader("long", 10_000);
  long.buys("market", { margin: 1_000, leverage: 20 });
  const { orderId } = long.sells("stop", { margin: 200, price: 49_000 });
  rich.buys("limit", { margin: 50_000, price: 46_000 });
  venue.index(47_000);
  return { venue, long, stop: orderId };
}

const PAUSES = { "three seconds": 3_000, "a minute": 60_000, "eight hours": 8 * 3_600_000 };

describe("a restart with the index of before", () => {
  for (const [name, ms] of Object.entries(PAUSES)) {
    test(`after ${name}: nobody is liquidated or triggered, and the true price keeps them`, () => {
      const { venue, long } = haltedAtTheLow();
      venue.resumes(venue.now + ms);
      const events = venue.waits(5);
      const kinds = new Set(events.map(({ kind }) => kind));
      expect(kinds.has("Liquidated")).toBe(false);
      expect(kinds.has("StopTriggered")).toBe(false);
      venue.index(50_000);
      venue.waits(5);
      expect(long.position().size).toBeCloseTo(0.4, 4);
      expect(long.openOrders()).toBe(1);
    });

    test(`after ${name}: a fresh index that is still low liquidates`, () => {
      const { venue, long } = haltedAtTheLow();
      venue.resumes(venue.now + ms);
      venue.index(47_000);
      venue.tick();
      expect(venue.happened("Liquidated")).toHaveLength(1);
      expect(long.position().size).toBe(0);
    });
  }
});
