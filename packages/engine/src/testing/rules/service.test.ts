/**
 * Order of service: "Each tick chooses from everything that waits. Liquidations: by maintenance
 * − equity, largest first. Stops: closing ones before others; in each class one per account in turn,
 * by lots × mark, largest first." More is due than a tick serves, so the choice shows.
 */
import { Random } from "@perpgate/protocol/random";
import { describe, expect, test } from "vitest";
import { BTC } from "../scenarios/listing.js";
import { LightVenue } from "./light-venue.js";
import { type OrderView, readView, type View } from "./view.js";

const SERVED_PER_TICK = 256;

/** "Maintenance is marginal over the tiers …, at mark, rounded up": whole tiers, then a part of one. */
function maintenanceOf(notional: bigint): bigint {
  let lower = 0n;
  let sum = 0n;
  for (const { upToMicros, maintenancePpm } of BTC.config.tiers) {
    const upper = notional < BigInt(upToMicros) ? notional : BigInt(upToMicros);
    if (upper > lower) sum += (upper - lower) * BigInt(maintenancePpm);
    lower = BigInt(upToMicros);
  }
  return (sum + 999_999n) / 1_000_000n;
}

/** Maintenance − equity of every position, at a mark. */
function shortfalls(view: View, mark: number): Map<number, bigint> {
  const found = new Map<number, bigint>();
  for (const [account, { lots, cost, margin }] of view.positions) {
    if (lots === 0) continue;
    const value = BigInt(lots) * BigInt(mark);
    const notional = value < 0n ? -value : value;
    const equity = BigInt(margin) + value - BigInt(cost);
    found.set(account, maintenanceOf(notional) - equity);
  }
  return found;
}

/** 600 longs of many sizes against one short that can pay. */
function crowd(random: Random): LightVenue {
  const venue = new LightVenue();
  const rich = venue.trader("rich", 100_000_000);
  rich.sells("limit", { margin: 2_000_000, price: 50_000, leverage: 10 });
  for (let i = 0; i < 600; i++) {
    const trader = venue.trader(`trader ${i}`, 20_000);
    const margin = Math.round(random.logNormal(20, 1.5) * 100) / 100;
    const { status } = trader.buys("market", { margin, leverage: random.int(30, 50) });
    expect(status, trader.name).toBe("filled");
  }
  // Bids that take every liquidation.
  venue.index(48_800);
  rich.buys("limit", { margin: 4_000_000, price: 48_700, leverage: 10 });
  return venue;
}

describe("liquidations by maintenance − equity, largest first", () => {
  test.each([1, 2])(
    "more due than a tick serves, the mark moving, restored between: seed %i",
    (seed) => {
      const random = new Random(seed, "service");
      const venue = crowd(random);
      let ticks = 0;
      for (let due = 1; due > 0; ticks++) {
        venue.index(48_800 + random.int(-100, 100));
        if (ticks % 2 === 1) venue.restarts();
        const before = readView(venue.engine);
        venue.tick();
        const waiting = shortfalls(before, venue.market().mark);
        const served = new Set(venue.happened("Liquidated").map(({ account }) => account));
        const dueNow = [...waiting].filter(([, shortfall]) => shortfall >= 0n);
        const left = dueNow.filter(([account]) => !served.has(account));
        expect(served.size, `tick ${ticks}`).toBe(Math.min(SERVED_PER_TICK, dueNow.length));
        const least = [...served].reduce(
          (low, account) => (waiting.get(account)! < low ? waiting.get(account)! : low),
          1n << 60n,
        );
        for (const [account, shortfall] of left) {
          expect(shortfall <= least, `tick ${ticks}: account ${account} waits`).toBe(true);
        }
        due = left.length;
      }
      expect(ticks).toBeGreaterThan(1);
    },
  );
});

/** The ids that a tick serves, by the sentence of the page. */
function expectedStops(view: View, mark: number): number[] {
  const reached = view.orders.filter(
    ({ isStop, side, price }) => isStop && (side > 0 ? mark >= price : mark <= price),
  );
  const isClosing = ({ account, side }: OrderView): boolean =>
    (view.positions.get(account)?.lots ?? 0) * side < 0;
  const turns = new Map<number, number>();
  const ranked = [...reached]
    .sort((a, b) => b.remaining - a.remaining)
    .map((order) => {
      const turn = turns.get(order.account) ?? 0;
      turns.set(order.account, turn + 1);
      return { order, turn, last: isClosing(order) ? 0 : 1 };
    });
  ranked.sort(
    (a, b) => a.last - b.last || a.turn - b.turn || b.order.remaining - a.order.remaining,
  );
  return ranked.slice(0, SERVED_PER_TICK).map(({ order }) => order.id);
}

/** 80 holders with stop-losses, 40 others with stops that open; sizes all different. */
function stopCrowd(random: Random): LightVenue {
  const venue = new LightVenue({ version: 2 });
  const rich = venue.trader("rich", 200_000_000);
  rich.sells("limit", { margin: 2_000_000, price: 50_000, leverage: 10 });
  rich.buys("limit", { margin: 2_000_000, price: 49_000, leverage: 10 });
  let cents = 2_000;
  const size = (): number => {
    cents += random.int(1, 5);
    return cents / 100;
  };
  for (let i = 0; i < 120; i++) {
    const trader = venue.trader(`trader ${i}`, 100_000);
    if (i % 3 !== 0) trader.buys("market", { margin: 400, leverage: 2 });
    for (let j = 0; j < 5; j++) {
      const { status } = trader.sells("stop", {
        margin: size(),
        leverage: 2,
        price: 49_900 - random.int(0, 200),
      });
      expect(status).toBe("pending");
    }
  }
  return venue;
}

describe("version 2, stops: closing first, one per account in turn, by lots × mark", () => {
  for (const seed of [1, 2])
    test(`more reached than a tick serves, restored between: seed ${seed}`, () => {
      const random = new Random(seed, "stops");
      const venue = stopCrowd(random);
      let ticks = 0;
      for (let left = 1; left > 0; ticks++) {
        venue.index(49_600);
        if (ticks % 2 === 1) venue.restarts();
        const before = readView(venue.engine);
        venue.tick();
        const expected = expectedStops(before, venue.market().mark);
        const served = venue.happened("StopTriggered").map(({ orderId }) => orderId);
        const missing = expected.filter((id) => !served.includes(id));
        expect(missing.slice(0, 5), `tick ${ticks}: waiting`).toEqual([]);
        expect(served.length, `tick ${ticks}`).toBe(expected.length);
        left = before.orders.filter(({ isStop }) => isStop).length - served.length;
      }
      expect(ticks).toBe(3);
    });
});

test("one account's many stops do not delay another's stop-loss", () => {
  const venue = new LightVenue({ config: { maxOpenOrders: 2_000 } });
  const rich = venue.trader("rich", 200_000_000);
  rich.sells("limit", { margin: 100_000, price: 50_000 });
  rich.buys("limit", { margin: 100_000, price: 49_000 });
  const spammer = venue.trader("spammer", 1);
  for (let i = 0; i < 1_500; i++) spammer.sells("stop", { margin: 1_000, price: 49_900 });
  const holder = venue.trader("holder", 1_000);
  holder.buys("market", { margin: 500, leverage: 2 });
  const { orderId } = holder.sells("stop", { margin: 500, leverage: 2, price: 49_800 });
  venue.index(49_500);
  venue.tick();
  const first = venue.happened("StopTriggered").map((event) => event.orderId);
  expect(first).toContain(orderId);
  expect(holder.position().size * 50_000).toBeLessThan(20);
});
