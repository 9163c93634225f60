/**
 * "Market controls, operator only, in the log: reduce-only | halt | resume | settle --price P.
 * Reduce-only cancels opening parts. Settle: losers pay at most their margin, then the fund while
 * > 0, then winners are scaled alike; spread over ticks (settling), ends in settled, which is final.
 * A market halted by an invariant can be resumed or settled."
 */
import { describe, expect, test } from "vitest";
import { Engine } from "../../engine.js";
import { sha256 } from "../replay/recording.js";
import { MICROS } from "../scenarios/listing.js";
import type { Trader } from "../scenarios/trader.js";
import { Venue } from "../scenarios/venue.js";
import { LightVenue } from "./light-venue.js";

/** A long and a short of $10,000 each, and $1,000 of margin. */
function pair(venue: Venue = new Venue()): { venue: Venue; long: Trader; short: Trader } {
  const long = venue.trader("long", 5_000);
  const short = venue.trader("short", 5_000);
  long.buys("limit", { margin: 1_000, price: 50_000 });
  short.sells("market", { margin: 1_000 });
  expect(long.position().size).toBeCloseTo(0.2, 5);
  return { venue, long, short };
}

describe("reduce-only", () => {
  test("what rests keeps its closing part alone, and nothing opens", () => {
    const { venue, long } = pair();
    const other = venue.trader("other", 5_000);
    const exit = long.sells("limit", { margin: 1_500, price: 50_500 });
    const opening = other.buys("limit", { margin: 1_000, price: 49_500 });
    expect([exit.status, opening.status]).toEqual(["resting", "resting"]);
    expect(venue.controls("reduceOnly")).toBeNull();
    for (let i = 0; i < 5; i++) venue.tick();
    expect(other.openOrders()).toBe(0);
    expect(venue.best().bid).toBeNull();
    expect(venue.best().ask?.[1]).toBeCloseTo(0.2, 5);
    for (const type of ["market", "limit"] as const) {
      const answer = other.buys(type, { margin: 100, price: 50_500 });
      expect([answer.status, answer.reason]).toEqual(["refused", "market_reduce_only"]);
    }
  });

  test("exits and liquidations go on, resume opens it again", () => {
    const { venue, long, short } = pair();
    venue.controls("reduceOnly");
    expect(long.sells("limit", { margin: 500, price: 50_000 }).status).toBe("resting");
    expect(short.buys("market", { margin: 500 }).filled).toBeCloseTo(0.1, 5);
    venue.index(45_100);
    venue.tick();
    expect(venue.happened("Liquidated")).toHaveLength(1);
    expect(venue.controls("resume")).toBeNull();
    const trader = venue.trader("trader", 1_000);
    expect(trader.buys("limit", { margin: 100, price: 45_000 }).status).toBe("resting");
  });
});

describe("halt", () => {
  test("no order, no trigger, no liquidation; cancels work; a resume needs a fresh index", () => {
    const { venue, long } = pair();
    const resting = long.sells("limit", { margin: 100, price: 52_000 });
    venue.controls("halt");
    const answer = long.sells("market", { margin: 100, reduceOnly: true });
    expect(answer.reason).toBe("market_halted");
    venue.index(42_500);
    expect(venue.refusal).toBe("market_halted");
    for (let i = 0; i < 5; i++)
      expect(venue.tick().some((e) => e.kind === "Liquidated")).toBe(false);
    expect(long.cancels(resting.orderId)).toBeNull();
    expect(venue.controls("resume")).toBeNull();
    expect(venue.tick().some((event) => event.kind === "Liquidated")).toBe(false);
    venue.index(42_500);
    expect(venue.tick().some((event) => event.kind === "Liquidated")).toBe(true);
    expect(long.position().size).toBe(0);
  });
});

describe("settle", () => {
  test("at a price that everyone can pay: each is paid its profit or loss", () => {
    const { venue, long, short } = pair();
    const before = { long: long.equityMicros(), short: short.equityMicros() };
    venue.controls("settle", 52_000);
    for (let i = 0; i < 5; i++) venue.tick();
    expect([long.position().size, short.position().size]).toEqual([0, 0]);
    expect((long.equityMicros() - before.long) / MICROS).toBeCloseTo(400, 4);
    expect((short.equityMicros() - before.short) / MICROS).toBeCloseTo(-400, 4);
    expect(long.wallet * MICROS).toBeCloseTo(long.equityMicros(), 0);
    const late = long.buys("market", { margin: 100 });
    expect([late.status, late.reason]).toEqual(["refused", "market_settled"]);
    expect(venue.controls("resume")).not.toBeNull();
  });

  test("losers pay their margin at most, then the fund", () => {
    const { venue, long, short } = pair(new Venue({ config: { fundSeedMicros: 10_000 * MICROS } }));
    const before = { long: long.wallet, short: short.wallet, fund: venue.fund };
    venue.controls("settle", 60_000);
    for (let i = 0; i < 5; i++) venue.tick();
    expect(short.wallet).toBe(before.short);
    expect(long.wallet - before.long).toBeCloseTo(1_000 + 2_000, 6);
    expect(before.fund - venue.fund).toBeCloseTo(1_000, 6);
  });

  test("an empty fund: winners are scaled alike", () => {
    const venue = new Venue({ config: { fundSeedMicros: 0 } });
    const winners = [1, 2, 3].map((i) => venue.trader(`winner ${i}`, 10_000));
    const loser = venue.trader("loser", 10_000);
    winners.forEach((winner, i) => {
      winner.buys("limit", { margin: 500 * (i + 1), price: 50_000 });
      loser.sells("market", { margin: 500 * (i + 1) });
    });
    const wallets = winners.map((winner) => winner.wallet);
    const kept = loser.wallet;
    venue.controls("settle", 65_000);
    for (let i = 0; i < 5; i++) venue.tick();
    expect(loser.wallet).toBeCloseTo(kept, 2);
    expect(venue.fund).toBeGreaterThanOrEqual(0);
    // Their profit would be $9,000, 3,000 of margin can be paid: a third each.
    winners.forEach((winner, i) => {
      const margin = 500 * (i + 1);
      expect(winner.wallet - wallets[i]!).toBeCloseTo(margin + margin, 0);
    });
  });

  test("many positions: spread over ticks, the same from a snapshot in the middle", () => {
    const settleAll = (isRestored: boolean): string => {
      const venue = new LightVenue();
      const rich = venue.trader("rich", 10_000_000);
      rich.sells("limit", { margin: 1_000_000, price: 50_000, leverage: 2 });
      for (let i = 0; i < 1_100; i++) {
        venue.trader(`t${i}`, 100).buys("market", { margin: 50, leverage: 2 });
      }
      venue.controls("settle", 48_000);
      for (let i = 0; i < 20; i++) {
        if (isRestored) venue.engine = Engine.restore(venue.engine.snapshot());
        venue.tick();
      }
      expect(rich.position().size).toBe(0);
      return venue.engine.stateHash(sha256);
    };
    expect(settleAll(true)).toBe(settleAll(false));
  });
});
