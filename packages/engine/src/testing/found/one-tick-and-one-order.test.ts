/**
 * Two schemes of an independent risk engineer, before (version 2) and after (version 3): a book that is deep
 * for one tick sets the funding of an hour, and one bid far away moves the mark.
 */
import { describe, expect, test } from "vitest";
import { START_MS, Venue } from "../scenarios/venue.js";

const HOUR_1 = START_MS + 3_600_000;

describe("a book that is deep for one tick, with bids 4.8 % above the index", () => {
  /** The rate of the hour, of which a minute is traded, and what a long of $50,000 pays. */
  function hour(version: number): { rate: number; paid: number } {
    const venue = new Venue({ version });
    const long = venue.trader("long", 100_000);
    const ring = venue.trader("ring", 1_000_000);
    ring.sells("limit", { margin: 5_000, price: 50_000 });
    long.buys("limit", { margin: 5_000, price: 50_000 });
    const terms = { margin: 30_000, leverage: 1 };
    const bid = ring.buys("limit", { ...terms, price: 52_400 });
    const ask = ring.sells("limit", { ...terms, price: 52_500 });
    venue.tick();
    for (const { orderId } of [bid, ask]) ring.cancels(orderId);
    for (let i = 0; i < 12; i++) {
      venue.waits(5);
      venue.index(50_000);
    }
    venue.skipsTo(HOUR_1);
    venue.tick();
    return { rate: venue.happened("FundingApplied")[0]!.rate, paid: long.fundingPaid() };
  }

  test("version 2: the largest rate that there is, $250 of the long", () => {
    expect(hour(2)).toEqual({ rate: 5_000_000, paid: 250 });
  });

  test("version 3: the interest alone", () => {
    expect(hour(3)).toEqual({ rate: 12_500, paid: 0.625 });
  });
});

describe("one bid of ten dollars 90 % below the index, where no other bid is, and a trade with itself", () => {
  /** The mark after two seconds, and whether a stop at 49,800 has triggered. */
  function attack(version: number): { mark: number; isTriggered: boolean } {
    const venue = new Venue({ version });
    const ring = venue.trader("ring", 10_000);
    const other = venue.trader("other", 10_000);
    const honest = venue.trader("honest", 1_000_000);
    ring.buys("limit", { margin: 50, price: 50_000 });
    honest.sells("limit", { margin: 50, price: 50_000 });
    honest.sells("limit", { margin: 100_000, leverage: 1, price: 50_010 });
    const stop = ring.sells("stop", { margin: 50, price: 49_800, reduceOnly: true });
    ring.buys("limit", { margin: 20, price: 49_000 });
    other.sells("limit", { margin: 20, price: 49_000 });
    ring.buys("limit", { margin: 1, price: 5_000 });
    let isTriggered = false;
    for (let i = 0; i < 10; i++) {
      venue.tick();
      isTriggered ||= venue
        .happened("StopTriggered")
        .some(({ orderId }) => orderId === stop.orderId);
    }
    return { mark: venue.mark(), isTriggered };
  }

  test("version 2: the mark is at its clamp, and the stop has triggered", () => {
    expect(attack(2)).toEqual({ mark: 49_750, isTriggered: true });
  });

  test("version 3: neither", () => {
    expect(attack(3)).toEqual({ mark: 50_000, isTriggered: false });
  });
});
