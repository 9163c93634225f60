/**
 * Found by letting an index fall in steps that keep the market settled: later turns of liquidations were given
 * by the time since when an account waited, whatever its shortfall, and only in markets that are not settled
 * was one that had waited for a second handed over. Sixty accounts with $30 of margin each held up a liquidation of
 * $900,000 for eight seconds, a wall of dust alone as long.
 */
import { expect, test } from "vitest";
import { LightVenue } from "../rules/light-venue.js";
import { BTC, MICROS } from "../scenarios/listing.js";
import type { Trader } from "../scenarios/trader.js";

const LOT = 0.00001;
const WALL = 49_100;

function venueWith(ring: number): { venue: LightVenue; honest: Trader } {
  const venue = new LightVenue({
    markets: [BTC],
    config: { attestorKind: "dev", devCreditMicros: 3_000_000 * MICROS },
  });
  const seller = venue.trader("seller");
  seller.sells("limit", { size: 100, leverage: 10, price: 50_000 });
  for (let i = 0; i < ring; i++) {
    venue.trader(`ring ${i}`).buys("market", { size: 0.03, leverage: 50 });
  }
  const honest = venue.trader("honest");
  expect(honest.buys("market", { size: 18, leverage: 45 }).status).toBe("filled");
  return { venue, honest };
}

/** Bids of one lot, 500 of each account, and one behind them that would take everything. */
function wall(venue: LightVenue, orders: number): void {
  for (let i = 0; i < orders / 500; i++) {
    const maker = venue.trader(`wall ${i}`);
    const bid = maker.order(1, "limit", { size: LOT, leverage: 1, price: WALL });
    for (let nonce = 1; nonce <= 500; nonce++) venue.apply({ ...bid, nonce });
  }
  venue.trader("deep").buys("limit", { size: 40, leverage: 10, price: WALL - 20 });
}

/** In steps of less than the lowest maintenance, one every two ticks. */
function fallsUntil(venue: LightVenue, isDone: () => boolean): number {
  const prices = [49_700, 49_480, 49_350, 49_300, 49_250, 49_200, 49_150, 49_100];
  for (let ticks = 1; ; ticks++) {
    const price = ticks % 2 === 1 ? prices.shift() : undefined;
    if (price === undefined) venue.refreshesIndex();
    else venue.index(price);
    venue.tick();
    expect(venue.engine.state.isSettled(venue.market())).toBe(true);
    if (isDone()) return ticks;
    expect(ticks).toBeLessThan(100);
  }
}

test.each([0, 60])(
  "a liquidation of 900,000 dollars into a wall of 40,000, next to %i small ones: done within 2 s of being due",
  (ring) => {
    const { venue, honest } = venueWith(ring);
    wall(venue, 40_000);
    let first = 0;
    let ticks = 0;
    const done = fallsUntil(venue, () => {
      ticks++;
      const turns = venue.happened("Liquidated").filter((e) => e.account === honest.account);
      if (turns.length > 0 && first === 0) first = ticks;
      return honest.position().size === 0;
    });
    expect(done - first).toBeLessThanOrEqual(10);
  },
);

test("later turns go by shortfall for each turn: the largest has more of them than sixty small ones", () => {
  const { venue, honest } = venueWith(60);
  wall(venue, 20_000);
  const turns = { honest: 0, others: 0 };
  let ticks = 0;
  fallsUntil(venue, () => {
    const accounts = venue.happened("Liquidated").map(({ account }) => account);
    if (ticks > 0 || accounts.includes(honest.account)) ticks++;
    if (ticks < 2) return false;
    const ofHonest = accounts.filter((account) => account === honest.account).length;
    turns.honest += ofHonest;
    turns.others += accounts.length - ofHonest;
    // Before it has waited for a second.
    return ticks === 5;
  });
  expect(turns.honest).toBeGreaterThan(turns.others);
});
