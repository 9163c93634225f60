/**
 * Bounds of work: "A command meets at most 2,000 makers, canceled ones included; what is left of a
 * taker is canceled with reason fill_limit. A tick meets 2,000 in all; a liquidation that reaches
 * this stays due for the next tick and is not handed over."
 */
import { describe, expect, test } from "vitest";
import type { Trader } from "../scenarios/trader.js";
import { LightVenue } from "./light-venue.js";

const MAKERS = 2_000;
const DOLLARS_PER_ORDER = 2;
const LOTS_PER_ORDER = 4;

function venueWithRoom(): LightVenue {
  return new LightVenue({ config: { maxOpenOrders: 10_000 } });
}

/** Resting orders of two dollars each. */
function rests(trader: Trader, side: 1 | -1, count: number, price: number): void {
  for (let i = 0; i < count; i++) {
    const margin = DOLLARS_PER_ORDER;
    const { status } = trader.places(side, "limit", { margin, leverage: 1, price });
    expect(status).toBe("resting");
  }
}

describe("a command meets at most 2,000 makers", () => {
  test("fills: the rest of the taker is canceled with fill_limit", () => {
    const venue = venueWithRoom();
    rests(venue.trader("maker", 100_000), -1, 2_500, 50_000);
    const taker = venue.trader("taker", 100_000);
    const answer = taker.buys("market", { margin: 20_000, leverage: 1 });
    expect(venue.happened("Traded").length).toBe(MAKERS);
    expect([answer.status, answer.reason]).toEqual(["canceled", "fill_limit"]);
    expect(venue.market().asks.lotsAt(0)).toBe(500 * LOTS_PER_ORDER);
    // The next command goes on.
    taker.buys("market", { margin: 20_000, leverage: 1 });
    expect(venue.happened("Traded").length).toBe(500);
  });

  test("a limit order that reaches the limit does not rest against the book", () => {
    const venue = venueWithRoom();
    rests(venue.trader("maker", 100_000), -1, 2_500, 50_000);
    const taker = venue.trader("taker", 100_000);
    const answer = taker.buys("limit", { margin: 20_000, leverage: 1, price: 50_000 });
    expect(venue.happened("Traded").length).toBe(MAKERS);
    expect([answer.status, answer.reason]).toEqual(["canceled", "fill_limit"]);
    expect(venue.best().bid).toBeNull();
  });

  test("own orders that are canceled count", () => {
    const venue = venueWithRoom();
    const taker = venue.trader("taker", 100_000);
    rests(taker, -1, 2_500, 50_000);
    const answer = taker.buys("market", { margin: 20_000, leverage: 1 });
    expect(venue.happened("Traded").length).toBe(0);
    expect(
      venue.happened("OrderEnded").filter((event) => event.orderId !== answer.orderId),
    ).toHaveLength(MAKERS);
    expect(answer.reason).toBe("fill_limit");
  });

  test("makers that may not open any more, and are canceled, count", () => {
    const venue = venueWithRoom();
    const holder = venue.trader("holder", 100_000);
    const rich = venue.trader("rich", 1_000_000);
    rich.sells("limit", { margin: 30_000, leverage: 1, price: 50_000 });
    holder.buys("market", { margin: 20_000, leverage: 1 });
    rests(venue.trader("maker", 100_000), 1, 2_500, 49_990);
    venue.cohort("closed");
    const answer = holder.sells("market", { margin: 20_000, leverage: 1, reduceOnly: true });
    expect(venue.happened("Traded").length).toBe(0);
    const ended = venue.happened("OrderEnded").filter((event) => event.orderId !== answer.orderId);
    expect(ended).toHaveLength(MAKERS);
    expect(answer.reason).toBe("fill_limit");
  });
});

/** Longs of $8,000 with a few dollars of equity, over many small bids. Half of one is due as well. */
function dueOver(bids: number, count = 1): { venue: LightVenue; longs: Trader[] } {
  const venue = venueWithRoom();
  const rich = venue.trader("rich", 10_000_000);
  rich.sells("limit", { margin: 100_000, leverage: 1, price: 50_000 });
  const longs = Array.from({ length: count }, (_, i) => {
    const long = venue.trader(`long ${i}`, 1_000);
    expect(long.buys("market", { margin: 160, leverage: 50 }).status).toBe("filled");
    return long;
  });
  venue.index(49_050);
  rests(venue.trader("maker", 100_000), 1, bids, 49_040);
  return { venue, longs };
}

describe("a tick meets 2,000 makers in all", () => {
  test("a liquidation that reaches this stays due and is not handed over", () => {
    const { venue, longs } = dueOver(5_000);
    const sizes: number[] = [longs[0]!.position().size];
    for (let tick = 0; tick < 3 && sizes.at(-1)! > 0; tick++) {
      venue.index(49_050);
      venue.tick();
      expect(venue.happened("Traded").length).toBeLessThanOrEqual(MAKERS);
      const kinds = new Set(venue.happened("Traded").map(({ tradeKind }) => tradeKind));
      expect([...kinds], "book only").toEqual([1]);
      expect(venue.backstop().size).toBe(0);
      sizes.push(longs[0]!.position().size);
    }
    expect(sizes[1]).toBeGreaterThan(0);
    expect(sizes.at(-1)).toBe(0);
  });

  test("two liquidations share the 2,000", () => {
    const { venue, longs } = dueOver(9_000, 2);
    let ticks = 0;
    while (longs.some((long) => long.position().size > 0) && ticks < 10) {
      venue.index(49_050);
      venue.tick();
      ticks++;
      expect(venue.happened("Traded").length).toBeLessThanOrEqual(MAKERS);
      expect(venue.backstop().size).toBe(0);
    }
    expect(longs.map((long) => long.position().size)).toEqual([0, 0]);
    expect(ticks).toBeGreaterThan(3);
  });
});
