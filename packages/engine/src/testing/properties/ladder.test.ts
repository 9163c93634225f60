/** The ladder of price levels against a sorted list of orders. fast-check prints seed and path. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { LONG } from "../../commands.js";
import { Ladder } from "../../state/ladder.js";
import { NONE, OrderStore } from "../../state/orders.js";
import { UndoLog } from "../../state/table.js";
import { bareOrder } from "../bare-order.js";

interface Order {
  readonly row: number;
  readonly ticks: number;
  lots: number;
}

/** One side of a book, and the list it must agree with: best price first, then oldest. */
class Pair {
  readonly undo = new UndoLog();
  readonly orders = new OrderStore(this.undo);
  readonly ladder: Ladder;
  readonly list: Order[] = [];
  private nextId = 1;

  constructor(readonly sign: 1 | -1) {
    this.ladder = new Ladder(sign, this.orders);
  }

  add(ticks: number, lots: number): void {
    this.undo.begin();
    const row = this.orders.add(this.nextId++, 0, 0, bareOrder(LONG, ticks), lots, lots);
    this.ladder.add(row, ticks, lots);
    const better = (order: Order): boolean => this.sign * (order.ticks - ticks) >= 0;
    const place = this.list.findIndex((order) => !better(order));
    this.list.splice(place < 0 ? this.list.length : place, 0, { row, ticks, lots });
  }

  reduce(i: number, lots: number): void {
    const order = this.list[i]!;
    const less = Math.min(lots, order.lots - 1);
    order.lots -= less;
    this.undo.begin();
    this.orders.table.touch(order.row);
    this.orders.setRemaining(order.row, order.lots);
    this.ladder.reduce(order.row, less);
  }

  remove(i: number): void {
    const [order] = this.list.splice(i, 1);
    this.undo.begin();
    this.orders.table.touch(order!.row);
    this.ladder.remove(order!.row, order!.ticks, order!.lots);
    this.orders.release(order!.row);
  }

  /** Levels with their orders, as the ladder tells them. */
  told(): [ticks: number, lots: number, rows: number[]][] {
    const levels: [number, number, number[]][] = [];
    for (let i = 0; i < this.ladder.count; i++) {
      const rows: number[] = [];
      for (let row = this.ladder.firstOrderAt(i); row !== NONE; ) {
        rows.push(row);
        row = this.orders.nextAtLevel(row);
      }
      levels.push([this.ladder.ticksAt(i), this.ladder.lotsAt(i), rows]);
    }
    return levels;
  }

  expected(): [ticks: number, lots: number, rows: number[]][] {
    const levels: [number, number, number[]][] = [];
    for (const { row, ticks, lots } of this.list) {
      const last = levels.at(-1);
      if (last !== undefined && last[0] === ticks) {
        last[1] += lots;
        last[2].push(row);
      } else {
        levels.push([ticks, lots, [row]]);
      }
    }
    return levels;
  }
}

const step = fc.record({
  what: fc.constantFrom("add", "add", "add", "reduce", "remove", "removeBest"),
  ticks: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 2 ** 36 })),
  lots: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 2 ** 40 })),
  pick: fc.nat(1_000_000),
});

for (const sign of [1, -1] as const) {
  test(`${sign > 0 ? "bids" : "asks"}: levels, sizes and queues after any orders`, () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 500 }), (steps) => {
        const pair = new Pair(sign);
        for (const { what, ticks, lots, pick } of steps) {
          if (what === "add") pair.add(ticks, lots);
          else if (pair.list.length === 0) continue;
          else if (what === "reduce") pair.reduce(pick % pair.list.length, lots);
          else pair.remove(what === "removeBest" ? 0 : pick % pair.list.length);
          const best = pair.list[0];
          expect(pair.ladder.count > 0).toBe(best !== undefined);
          if (best === undefined) continue;
          expect(pair.ladder.bestTicks()).toBe(best.ticks);
          expect(pair.ladder.bestOrder()).toBe(best.row);
        }
        expect(pair.told()).toEqual(pair.expected());
        expect(pair.ladder.isConsistent()).toBe(true);
        pair.ladder.clear();
        expect(pair.told()).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
}

test("thousands of levels: inserted and removed anywhere, far from the best too", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.constantFrom(1, -1), (salt, sign) => {
      const pair = new Pair(sign === 1 ? 1 : -1);
      // A fixed permutation of prices, so that insertion lands at every depth.
      for (let i = 0; i < 1_500; i++) pair.add(1 + ((i * 7_919 + salt) % 4_001), 1 + (i % 3));
      for (let i = 0; i < 1_000; i++) pair.remove((i * 104_729 + salt) % pair.list.length);
      for (let i = 0; i < 200; i++) pair.add(1 + ((i * 31 + salt) % 4_001), 2);
      expect(pair.told()).toEqual(pair.expected());
    }),
    { numRuns: 5 },
  );
});
