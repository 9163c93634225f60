/**
 * Found in a trial of version 2: all liquidations and stops of a tick share 2,000 makers. An account that is
 * liquidated into a wall of its own dust orders used them up, tick after tick: for 10.2 s nothing else was
 * liquidated or triggered, for $67. A wall of a fifth of that size shows it.
 */
import { describe, expect, test } from "vitest";
import type { Command } from "../../commands.js";
import type { VenueEvent } from "../../events/event-table.js";
import { comparedEngine } from "../compared.js";
import { LightVenue } from "../rules/light-venue.js";
import { BTC, ETH, MICROS } from "../scenarios/listing.js";
import type { Trader } from "../scenarios/trader.js";

const WALL = 49_040;
const DUE = 49_050;
const LOT = 0.00001;

/** A wall of one-lot bids, 500 of each account. */
function wall(venue: LightVenue, orders: number): Trader[] {
  const makers = Array.from({ length: orders / 500 }, (_, i) => venue.trader(`wall ${i}`));
  for (const maker of makers) {
    for (let i = 0; i < 500; i++) {
      const bid = maker.order(1, "limit", { size: LOT, leverage: 1, price: WALL });
      venue.apply(bid);
    }
  }
  return makers;
}

/** Long at $50,000 with a margin of 2 %. */
function long(venue: LightVenue, name: string, size: number, leverage = 50): Trader {
  const trader = venue.trader(name);
  expect(trader.buys("market", { size, leverage }).status).toBe("filled");
  return trader;
}

/** Keeps its commands. */
class RecordedVenue extends LightVenue {
  declare commands: Command[];

  override apply(command: Command): VenueEvent[] {
    this.commands ??= [];
    this.commands.push(command);
    return super.apply(command);
  }
}

function scene(version: number): { venue: LightVenue; commands: readonly Command[] } {
  const venue = new RecordedVenue({
    version,
    markets: [BTC, ETH],
    config: { attestorKind: "dev", devCreditMicros: 10_000_000 * MICROS },
  });
  const seller = venue.trader("seller");
  seller.sells("limit", { size: 20, leverage: 10, price: 50_000 });
  return { venue, commands: venue.commands };
}

/** The number of the tick after which it is so. */
function ticksUntil(venue: LightVenue, isDone: (tick: number) => boolean): number {
  for (let ticks = 1; ; ticks++) {
    venue.index(DUE);
    venue.tick();
    if (isDone(ticks)) return ticks;
    expect(ticks).toBeLessThan(200);
  }
}

describe("one account's liquidation eats its own wall of 20,500 dust orders", () => {
  test.each([
    { version: 2, name: "before", liquidated: 10, stopped: 11 },
    { version: 3, name: "after", liquidated: 1, stopped: 1 },
  ])(
    "version $version, $name: another is liquidated with tick $liquidated, a stop served with tick $stopped",
    (row) => {
      const { venue } = scene(row.version);
      long(venue, "ring", 0.21);
      const honest = long(venue, "honest", 0.02);
      const careful = long(venue, "careful", 0.1, 5);
      careful.sells("stop", { size: 0.1, leverage: 5, price: 49_500, reduceOnly: true });
      wall(venue, 20_500);
      let liquidated = 0;
      let stopped = 0;
      const ticks = ticksUntil(venue, (tick) => {
        const isServed = venue
          .happened("Liquidated")
          .some((each) => each.account === honest.account);
        if (isServed && liquidated === 0) liquidated = tick;
        if (venue.happened("StopTriggered").length > 0 && stopped === 0) stopped = tick;
        return liquidated > 0 && stopped > 0;
      });
      expect(ticks).toBe(Math.max(row.liquidated, row.stopped));
      expect({ liquidated, stopped }).toEqual({ liquidated: row.liquidated, stopped: row.stopped });
    },
  );
});

describe("four stops of one account eat a wall of 9,000 dust orders", () => {
  test.each([
    { version: 2, name: "before", ticks: 5 },
    { version: 3, name: "after", ticks: 1 },
  ])("version $version, $name: another account's stop is served with tick $ticks", (row) => {
    const { venue } = scene(row.version);
    const ring = long(venue, "ring", 0.2, 1);
    const stop = { leverage: 1, price: 49_500, reduceOnly: true };
    for (let i = 0; i < 4; i++) ring.sells("stop", { ...stop, size: 0.02 });
    const honest = long(venue, "honest", 0.01, 1);
    const { orderId } = honest.sells("stop", { ...stop, size: 0.01 });
    wall(venue, 9_000);
    const isServed = (): boolean => {
      return venue.happened("StopTriggered").some((each) => each.orderId === orderId);
    };
    expect(ticksUntil(venue, isServed)).toBe(row.ticks);
  });
});

test("version 3: a stop that reaches the limit of its turn keeps what it may still do, behind the others", () => {
  const { venue } = scene(3);
  const large = long(venue, "large", 0.05, 1);
  const stop = { leverage: 1, price: 49_500, reduceOnly: true };
  const first = large.sells("stop", { ...stop, size: 0.05 });
  const small = long(venue, "small", 0.0001, 1);
  const second = small.sells("stop", { ...stop, size: 0.0001 });
  wall(venue, 5_500);
  venue.index(DUE);
  venue.tick();
  // 20 makers, then the other, then what the tick has left.
  const takers = venue.happened("Traded").map((trade) => trade.takerOrderId);
  expect(takers.indexOf(second.orderId)).toBe(20);
  expect(takers.length).toBeGreaterThan(1_900);
  expect(large.openOrders()).toBe(1);
  venue.restarts();
  expect(large.amends(first.orderId, { price: 48_000 }).status).toBe("refused");
  expect(ticksUntil(venue, () => large.position().size === 0)).toBe(2);
  expect(large.openOrders()).toBe(0);
  expect(venue.ended()).toContainEqual([first.orderId, "none"]);
});

test("version 3: what ticks do in turns is what the written rules say", () => {
  const { venue, commands } = scene(3);
  long(venue, "ring", 0.012);
  for (const name of ["a", "b", "c"]) {
    long(venue, name, 0.0006);
    const careful = long(venue, `careful ${name}`, 0.0006, 1);
    careful.sells("stop", { size: 0.0005, leverage: 1, price: 49_500, reduceOnly: true });
    careful.sells("stop", { margin: 30, leverage: 1, price: 49_500 });
    careful.sells("stop", { price: 49_500, closePosition: true });
  }
  wall(venue, 1_500);
  for (let i = 0; i < 3; i++) {
    venue.index(DUE);
    venue.tick();
    venue.restarts();
  }
  const { apply } = comparedEngine();
  for (const command of commands) if (command.kind !== "WriterJoined") apply(command);
});

/**
 * After a jump orders wait until a tick has served the liquidations. A wall must not lengthen that: what has
 * been due for a second is handed over without asking the book.
 */
test("version 3: behind a wall of 30,000 dust orders a jump keeps orders waiting for less than 2 s", () => {
  const { venue } = scene(3);
  long(venue, "ring", 2);
  const honest = long(venue, "honest", 0.1, 5);
  wall(venue, 30_000);
  const exit = { size: 0.1, leverage: 5, reduceOnly: true };
  venue.tick();
  venue.index(DUE);
  expect(honest.sells("market", exit).reason).toBe("index_held");
  const ticks = ticksUntil(venue, () => honest.sells("market", exit).reason !== "index_held");
  expect(ticks).toBeLessThanOrEqual(10);
  expect(ticks).toBeGreaterThan(1);
});
