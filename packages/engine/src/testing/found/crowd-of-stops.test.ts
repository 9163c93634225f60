/**
 * A stop and a liquidation among the reached stops of a crowd, in front of a wall of the
 * smallest orders: how many ticks they take does not depend on the size of the crowd. The long form has a
 * million accounts: `npm test -- --long stops`.
 */
import { expect, test } from "vitest";
import { LightVenue } from "../rules/light-venue.js";
import { BTC, MICROS } from "../scenarios/listing.js";

const ACCOUNTS = Number(process.env.PERPGATE_STOPS ?? 8_000);
const LOT = 0.00001;
const WALL = 49_040;
const STOP = 49_900;
/** As many as a tick looks at, less some. */
const SHRUNK = Math.min(4_000, ACCOUNTS / 10);

/** Of one tick and market. */
const CLOSING = 256;

/** Accounts with a stop each, which the fall reaches. */
function crowd(venue: LightVenue): void {
  for (let i = 0; i < ACCOUNTS; i++) {
    const trader = venue.trader(`crowd ${i}`);
    const stop = (lots: number, leverage: number, reduceOnly: boolean) => {
      const terms = { size: lots * LOT, leverage, price: STOP, reduceOnly };
      expect(trader.sells("stop", terms).status).toBe("pending");
    };
    if (i < SHRUNK) {
      // For a hundred times of what is left.
      trader.buys("market", { size: 220 * LOT, leverage: 1 });
      stop(220, 1, true);
      trader.sells("market", { size: 219 * LOT, leverage: 1 });
    } else if (i < SHRUNK + CLOSING) {
      // For less than a tenth of the honest ones.
      trader.buys("market", { size: 10 * LOT, leverage: 1 });
      stop(10, 1, true);
    } else if (i % 2 === 1) {
      // They open, and need more than one turn.
      stop(1_000, 50, false);
    } else stop(1, 1, false);
  }
}

/** Bids of one lot, 500 of each account. */
function wall(venue: LightVenue, accounts: number): void {
  for (let i = 0; i < accounts; i++) {
    const maker = venue.trader(`wall ${i}`);
    const bid = maker.order(1, "limit", { size: LOT, leverage: 1, price: WALL });
    for (let nonce = 1; nonce <= 500; nonce++) venue.apply({ ...bid, nonce });
  }
}

test(`an exit of $20 that needs two turns, ${ACCOUNTS} reached stops: one tick`, () => {
  const venue = new LightVenue({
    markets: [BTC],
    config: { attestorKind: "dev", devCreditMicros: 2_000 * MICROS },
  });
  for (let i = 0; i < 100; i++)
    venue.trader(`offer ${i}`).sells("limit", { size: 0.3, price: 50_000 });
  const bidders = Array.from({ length: 100 }, (_, i) => venue.trader(`bid ${i}`));
  const bids = bidders.map((each) => each.buys("limit", { size: 0.3, price: STOP + 10 }).orderId);
  crowd(venue);
  for (const [i, each] of bidders.entries()) each.cancels(bids[i]!);
  const stopped = venue.trader("stopped");
  stopped.buys("market", { size: 40 * LOT, leverage: 1 });
  stopped.sells("stop", { size: 40 * LOT, leverage: 1, price: 49_000, reduceOnly: true });
  const due = venue.trader("due");
  due.buys("market", { size: 40 * LOT, leverage: 33 });
  wall(venue, 60);
  venue.tick();
  for (const index of [49_450, 49_020, 48_900]) {
    expect([stopped.position().size, due.position().size]).toEqual([40 * LOT, 40 * LOT]);
    venue.index(index);
    venue.tick();
  }
  expect(venue.engine.state.reaches.size).toBeGreaterThan(0);
  expect(stopped.position().size).toBe(0);
  // What is left has the margin of the whole, and is healthy.
  expect(due.position().size).toBe(20 * LOT);
}, 3_600_000);
