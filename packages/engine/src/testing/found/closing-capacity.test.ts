/**
 * Closing capacity counted again for every order: 400 sells, each of the size of one long, were all
 * taken for reductions, and their fills opened a short that no rule had been asked about.
 */
import { describe, expect, test } from "vitest";
import { type Listing, SMALL_TIERS } from "../scenarios/listing.js";
import type { Trader, Words } from "../scenarios/trader.js";
import { Venue } from "../scenarios/venue.js";

const ORDERS = 400;

interface Case {
  readonly rule: string;
  /** Dollars of the long, and leverage of its sells. */
  readonly long: number;
  readonly leverage: number;
  readonly listing?: Listing;
  /** The session that sells. */
  readonly maxNotionalMicros?: number;
  readonly restrict?: (venue: Venue) => void;
  /** Dollars of short that the rule allows. */
  readonly mostShort: number;
}

const CASES: readonly Case[] = [
  {
    rule: "session cap",
    long: 99,
    leverage: 10,
    maxNotionalMicros: 1_000e6,
    mostShort: 1_000,
  },
  {
    rule: "cohort closed",
    long: 99,
    leverage: 10,
    restrict: (venue) => venue.cohort("closed"),
    mostShort: 0,
  },
  {
    rule: "stale index",
    long: 99,
    leverage: 10,
    restrict: (venue) => venue.resumes(venue.now + 20_000),
    mostShort: 0,
  },
  { rule: "tier leverage", long: 900, leverage: 50, listing: SMALL_TIERS, mostShort: 1_000 },
  { rule: "position limit", long: 15_000, leverage: 10, listing: SMALL_TIERS, mostShort: 20_000 },
];

/** Alice is long; Bob bids and offers enough for everything she sends. */
function start({ long, listing, maxNotionalMicros, restrict }: Case) {
  const venue = new Venue(listing === undefined ? {} : { markets: [listing] });
  const alice = venue.trader("alice", 1_000_000);
  const makers = Array.from({ length: 3 }, (_, i) => venue.trader(`maker ${i}`, 1_000_000));
  makers[0]!.sells("limit", { margin: long / 10, price: 50_000 });
  alice.buys("limit", { margin: long / 10, price: 50_000 });
  expect(alice.position().cost).toBe(long);
  if (maxNotionalMicros !== undefined) alice.signsIn({ maxNotionalMicros });
  return { venue, alice, makers, restrict: () => restrict?.(venue) };
}

/** 400 orders of the long's size, or of a lot less: prices do not divide it evenly. */
function sellsManyTimes(alice: Trader, type: Words, terms: Case, price: number): string[] {
  const { long, leverage } = terms;
  const margin = (long * price) / 50_000 / leverage;
  return Array.from(
    { length: ORDERS },
    () => alice.sells(type, { margin, leverage, price }).reason,
  );
}

describe("many sells of one position's size", () => {
  for (const terms of CASES) {
    test(`limits, ${terms.rule}: the short stays within $${terms.mostShort}`, () => {
      const { venue, alice, makers, restrict } = start(terms);
      restrict();
      const answers = sellsManyTimes(alice, "limit", terms, 50_500);
      expect(answers[0]).toBe("none");
      for (const maker of makers) maker.buys("market", { margin: 100_000, leverage: 1 });
      expect(-alice.position().size * venue.mark()).toBeLessThanOrEqual(terms.mostShort);
      // What the rule allows was reached: it is the rule that stopped it.
      expect(-alice.position().size * venue.mark()).toBeGreaterThan(terms.mostShort * 0.85 - 1);
    });

    test(`stops, ${terms.rule}: the short stays within $${terms.mostShort}`, () => {
      const { venue, alice, makers, restrict } = start(terms);
      const answers = sellsManyTimes(alice, "stop", terms, 49_900);
      expect(answers.filter((reason) => reason === "none").length).toBeGreaterThan(1);
      for (const maker of makers) {
        maker.buys("limit", { margin: 100_000, leverage: 1, price: 49_850 });
      }
      venue.index(49_900);
      restrict();
      for (let ticks = 0; ticks < 5; ticks++) venue.tick();
      expect(-alice.position().size * venue.mark()).toBeLessThanOrEqual(terms.mostShort);
    });
  }
});
