/**
 * Two ways, found by hand, in which accomplices alone in a venue with a fixed index could make the
 * insurance fund pay them. Both rest on funding, which they push to its cap with one pair of quotes.
 */
import { expect, test } from "vitest";
import type { Trader } from "../scenarios/trader.js";
import { START_MS, Venue } from "../scenarios/venue.js";

const HOUR_MS = 3_600_000;
const SEED = 1_000_000;

/** The quotes of two accomplices, $21,000 a side, moved at will. */
class Quotes {
  private readonly open: number[] = [];

  constructor(
    private readonly bidder: Trader,
    private readonly asker: Trader,
  ) {}

  at(bid: number, ask: number): void {
    this.none();
    const terms = { margin: 21_000, leverage: 1 };
    this.open.push(
      this.bidder.buys("limit", { ...terms, price: bid }).orderId,
      this.asker.sells("limit", { ...terms, price: ask }).orderId,
    );
  }

  none(): void {
    for (const id of this.open.splice(0)) {
      this.bidder.cancels(id);
      this.asker.cancels(id);
    }
  }
}

function lingers(venue: Venue, seconds: number): void {
  for (let passed = 0; passed < seconds; passed += 5) {
    venue.refreshesIndex();
    venue.waits(5);
  }
}

test("funding: a payer in profit without margin does not let the fund pay its accomplice", () => {
  const venue = new Venue();
  const alice = venue.trader("alice", 100_000);
  const bob = venue.trader("bob", 200_000);
  const quotes = new Quotes(venue.trader("carol", 50_000), venue.trader("dave", 50_000));
  // Alice buys 20 BTC 5 % below the mark: margin $38,000, profit $50,000, never due.
  bob.sells("limit", { margin: 38_000, leverage: 25, price: 47_500 });
  alice.buys("limit", { margin: 38_000, leverage: 25, price: 47_500 });
  quotes.at(52_490, 52_500);
  for (let hour = 1; hour <= 24; hour++) {
    venue.skipsTo(START_MS + hour * HOUR_MS);
    venue.tick();
  }
  expect(venue.fund).toBeGreaterThanOrEqual(SEED);
});

test("backstop: what accomplices hand it, they do not buy back from it at its loss", () => {
  const venue = new Venue();
  const alice = venue.trader("alice", 30_000);
  const bob = venue.trader("bob", 30_000);
  const carol = venue.trader("carol", 100_000);
  const quotes = new Quotes(carol, venue.trader("dave", 100_000));
  // The mark goes to index − 0.5 %, and shorts pay 0.5 % an hour.
  quotes.at(47_510, 47_600);
  lingers(venue, 60);
  quotes.none();
  const price = venue.mark();
  bob.buys("limit", { margin: 25_000, leverage: 40, price });
  alice.sells("limit", { margin: 25_000, leverage: 40, price });
  quotes.at(47_510, 47_600);
  for (let hour = 1; hour <= 6 && alice.position().size !== 0; hour++) {
    venue.skipsTo(START_MS + hour * HOUR_MS);
    venue.tick();
  }
  // The mark goes to index + 0.5 %, where Bob sells to the backstop as dearly as it pays.
  quotes.at(52_400, 52_500);
  lingers(venue, 60);
  quotes.none();
  carol.buys("limit", { margin: 21_000, leverage: 1, price: 50_400 });
  bob.sells("limit", { margin: 1_000_000, price: 50_501, reduceOnly: true });
  lingers(venue, 15);
  expect(venue.fund).toBeGreaterThanOrEqual(SEED);
});
