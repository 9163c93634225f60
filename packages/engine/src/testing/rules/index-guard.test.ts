/**
 * "An index more than maxIndexJump (default 20 %) from any accepted index of the last 10 s is held.
 * It is confirmed when every update of the next 2 s, at least two, lies within 5 % of it; one back in
 * range ends the hold. While held: new and amended orders are 400 index_held; no triggers,
 * liquidations or margin removals; cancels work."
 */
import { describe, expect, test } from "vitest";
import { Engine } from "../../engine.js";
import type { Trader } from "../scenarios/trader.js";
import { Venue } from "../scenarios/venue.js";

interface Scene {
  readonly venue: Venue;
  readonly long: Trader;
}

/** A long of 20×, with a stop-loss, that a fall by a third liquidates. */
function leveraged(): Scene {
  const venue = new Venue();
  const rich = venue.trader("rich", 1_000_000);
  rich.sells("limit", { margin: 50_000, price: 50_000 });
  const long = venue.trader("long", 10_000);
  long.buys("market", { margin: 1_000, leverage: 20 });
  expect(long.sells("stop", { margin: 100, price: 48_000 }).status).toBe("pending");
  return { venue, long };
}

/** One update and one tick every 200 ms. Returns the reason that an order gets at the end. */
function reports({ venue, long }: Scene, dollars: number, ticks: number): string {
  for (let i = 0; i < ticks; i++) {
    venue.index(dollars);
    venue.tick();
  }
  return long.buys("limit", { margin: 10, price: venue.mark() * 0.9 }).reason;
}

describe("an index that jumps", () => {
  test("held for two seconds: no order, no liquidation, no trigger", () => {
    const scene = leveraged();
    for (let i = 0; i < 9; i++) {
      expect(reports(scene, 30_000, 1), `tick ${i}`).toBe("index_held");
      expect(scene.venue.happened("Liquidated")).toEqual([]);
    }
    expect(scene.long.position().size).toBeCloseTo(0.4, 3);
    expect(scene.long.openOrders()).toBe(1);
  });

  test("confirmed after two seconds: liquidation runs, and the new index is not held again", () => {
    const scene = leveraged();
    reports(scene, 30_000, 12);
    expect(scene.long.position().size).toBe(0);
    // Indices from before the jump are less than ten seconds old for a while.
    for (let i = 0; i < 60; i++)
      expect(reports(scene, 30_100, 1), `tick ${i}`).not.toBe("index_held");
  });

  test("one back in range ends the hold, and the jump begins again", () => {
    const scene = leveraged();
    reports(scene, 30_000, 8);
    expect(reports(scene, 50_100, 1)).not.toBe("index_held");
    expect(reports(scene, 30_000, 8)).toBe("index_held");
    expect(scene.long.position().size).toBeCloseTo(0.4, 3);
  });

  test("updates that disagree by more than 5 % do not confirm it", () => {
    const scene = leveraged();
    for (let i = 0; i < 15; i++) reports(scene, i % 2 === 0 ? 30_000 : 25_000, 1);
    expect(scene.long.position().size).toBeCloseTo(0.4, 3);
  });

  test("a single update in two seconds does not confirm it", () => {
    const scene = leveraged();
    scene.venue.index(30_000);
    scene.venue.waits(5);
    scene.venue.index(30_000);
    scene.venue.tick();
    expect(scene.long.position().size).toBeCloseTo(0.4, 3);
  });

  test("20 % in one step is accepted", () => {
    const scene = leveraged();
    expect(reports(scene, 40_000, 1)).not.toBe("index_held");
  });

  test("steps that add up to more within ten seconds are held", () => {
    const scene = leveraged();
    reports(scene, 45_000, 1);
    expect(reports(scene, 39_000, 1)).toBe("index_held");
  });

  test("a slow fall of the same size is never held", () => {
    const scene = leveraged();
    for (let price = 50_000; price > 30_000; price -= 100) {
      expect(reports(scene, price, 1), `${price}`).not.toBe("index_held");
    }
  });

  test("a held index survives a restore", () => {
    const scene = leveraged();
    reports(scene, 30_000, 5);
    scene.venue.engine = Engine.restore(scene.venue.engine.snapshot());
    expect(reports(scene, 30_000, 1)).toBe("index_held");
  });
});
