/**
 * Rounding never gives. Positions add up to zero lots, so at any one price the profits of some are
 * the losses of others: what all traders own together may only fall, by fees, by funding's rounding,
 * and by nothing else, unless somebody deposits.
 *
 * PERPGATE_TINY_TRADES=n sets how many fills the long run makes.
 */

import { Random } from "@perpgate/protocol/random";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { audit } from "../../audit.js";
import { LIMIT_ORDER, LONG, SHORT, type Side } from "../../commands.js";
import { DUST, type Listing, SMALL_TIERS } from "../scenarios/listing.js";
import { Venue } from "../scenarios/venue.js";
import { TinyTrades } from "./tiny-trades.js";

const FILLS = Number(process.env.PERPGATE_TINY_TRADES ?? 150_000);
const SEED = 20_150_501;
const TRADERS = 6;

describe(`${FILLS} tiny trades, seed ${SEED}: all traders together never gain a micro`, () => {
  const rows: [string, Listing, indexTicks: number, depositMicros: number][] = [
    ["lots of a hundred micros", DUST, 97, 40_000_000],
    ["lots of half a dollar", SMALL_TIERS, 500_003, 60_000_000_000],
  ];
  for (const [what, listing, indexTicks, depositMicros] of rows) {
    test(what, () => {
      const random = new Random(SEED, what);
      const venue = new TinyTrades(listing, TRADERS, depositMicros, indexTicks);
      let owned = venue.owned();
      expect(owned).toBe(TRADERS * depositMicros);
      const width = Math.max(1, Math.floor(indexTicks * 0.02));
      for (let sent = 1; venue.fills < FILLS / rows.length; sent++) {
        if (sent > 20 * FILLS) expect.fail(`only ${venue.fills} fills: they have stopped trading`);
        if (sent % 1_000 === 0) venue.tick(indexTicks + random.int(-width, width) / 4);
        if (sent % 50_000 === 0) venue.hour();
        const member = random.int(0, TRADERS - 1);
        if (sent % 40 === 0) venue.cancels(member);
        const side: Side = random.pick<Side>([LONG, SHORT]);
        const price = indexTicks + random.int(-width, width);
        venue.place(member, side, LIMIT_ORDER, price, random.int(1, 7), random.int(1, 5));
        const now = venue.owned();
        if (now > owned) expect.fail(`seed ${SEED}, command ${sent}: +${now - owned} micros`);
        owned = now;
        if (sent % 100_000 === 0) expect(audit(venue.engine), `command ${sent}`).toEqual([]);
      }
      expect(owned).toBeLessThan(TRADERS * depositMicros);
      expect(audit(venue.engine)).toEqual([]);
    });
  }
});

describe("in and out at the same price", () => {
  /** Sizes in lots of half a dollar; a short's way is the maker's. */
  const trips = fc.record({
    pieces: fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 6 }),
    entries: fc.integer({ min: 1, max: 4 }),
    leverage: fc.integer({ min: 1, max: 50 }),
    offset: fc.integer({ min: -20_000, max: 20_000 }),
  });

  test("both lose exactly their fees, each fill's rounded up, and no micro is left behind", () => {
    fc.assert(
      fc.property(trips, ({ pieces, entries, leverage, offset }) => {
        const venue = new Venue();
        const [alice, bob] = [venue.trader("alice", 100_000), venue.trader("bob", 100_000)];
        const price = 50_000 + offset / 10;
        const ticks = 500_000 + offset;
        const trade = (lots: number, aliceBuys: boolean): number => {
          // Margin for exactly this many lots: a little more than their cost, less than a lot more.
          const margin = Math.ceil((lots * ticks) / leverage) / 1e6;
          const terms = { margin, leverage, price };
          if (aliceBuys) bob.sells("limit", terms);
          else bob.buys("limit", terms);
          const answer = aliceBuys ? alice.buys("limit", terms) : alice.sells("limit", terms);
          return Math.round(answer.filled * 1e5);
        };
        const total = pieces.reduce((sum, lots) => sum + lots, 0);
        let fees = 0;
        const fills: number[] = [];
        for (let i = 0; i < entries; i++) {
          const part = Math.floor(total / entries) + (i < total % entries ? 1 : 0);
          if (part > 0) fills.push(trade(part, true));
        }
        const held = Math.round(alice.position().size * 1e5);
        let left = held;
        for (const piece of pieces) {
          const part = Math.min(piece, left);
          if (part === 0) break;
          fills.push(trade(part, false));
          left -= fills.at(-1)!;
        }
        while (left > 0) {
          fills.push(trade(left, false));
          left -= fills.at(-1)!;
        }
        for (const lots of fills) fees += Math.ceil((lots * ticks * 500) / 1e6);
        expect(alice.position()).toEqual({ size: 0, cost: 0, margin: 0 });
        expect(Math.round(alice.wallet * 1e6)).toBe(100_000e6 - fees);
        const exact = fills.reduce((sum, lots) => sum + (lots * ticks * 500) / 1e6, 0);
        expect(fees).toBeGreaterThanOrEqual(exact);
        expect(fees).toBeGreaterThan(0);
      }),
      { numRuns: 150 },
    );
  });
});
