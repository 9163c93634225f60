/** The book of stops, and the choice among those that wait, against plain lists. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  LONG,
  SHORT,
  STOP_ORDER,
  STOP_TRIGGER,
  TAKE_PROFIT_TRIGGER,
  type TriggerCode,
} from "../../commands.js";
import { Selection } from "../../selection.js";
import { OrderStore } from "../../state/orders.js";
import { StopBook } from "../../state/stop-book.js";
import { UndoLog } from "../../state/table.js";
import { bareOrder } from "../bare-order.js";

interface Stop {
  readonly row: number;
  readonly id: number;
  readonly ticks: number;
  reachedAt: number;
  isTriggered: boolean;
}

/** A book, and the list of its stops. */
class Pair {
  readonly undo = new UndoLog();
  readonly orders = new OrderStore(this.undo);
  readonly book: StopBook;
  stops: Stop[] = [];
  private seq = 0;

  constructor(
    readonly sign: 1 | -1,
    trigger: TriggerCode,
  ) {
    // A take-profit waits on the other side of the mark.
    const side = (sign === 1) === (trigger === STOP_TRIGGER) ? LONG : SHORT;
    this.book = new StopBook(side, trigger, this.orders);
    expect(this.book.sign).toBe(sign);
  }

  add(ticks: number): void {
    this.undo.begin();
    const id = ++this.seq;
    const terms = bareOrder(this.book.side, ticks);
    const row = this.orders.add(id, id, id, { ...terms, type: STOP_ORDER }, id, id);
    this.book.add(row);
    this.stops.push({ row, id, ticks, reachedAt: 0, isTriggered: false });
  }

  remove(i: number): void {
    const [stop] = this.stops.splice(i, 1);
    this.undo.begin();
    this.book.remove(stop!.row);
    this.orders.table.touch(stop!.row);
    this.orders.release(stop!.row);
  }

  trigger(i: number): void {
    const waiting = this.stops.filter((each) => each.reachedAt !== 0 && !each.isTriggered);
    const stop = waiting[i % Math.max(1, waiting.length)];
    if (stop === undefined) return;
    stop.isTriggered = true;
    this.book.remove(stop.row);
    this.book.addTriggered(stop.row);
  }

  reach(ticks: number): void {
    const seq = ++this.seq;
    let moved = 0;
    for (const stop of this.stops) {
      if (stop.reachedAt !== 0 || this.sign * (ticks - stop.ticks) < 0) continue;
      stop.reachedAt = seq;
      moved++;
    }
    expect(this.book.reach(ticks, seq)).toBe(moved);
  }

  check(): void {
    const told: [row: number, reachedAt: number][] = [];
    const triggered: number[] = [];
    this.book.forEach((row, reachedAt, isTriggered) => {
      if (isTriggered) triggered.push(row);
      else told.push([row, reachedAt]);
    });
    const isMeant = this.stops.filter((stop) => stop.isTriggered).map(({ row }) => row);
    expect(triggered.sort((a, b) => a - b)).toEqual(isMeant.sort((a, b) => a - b));
    const pending = this.stops
      .filter((stop) => stop.reachedAt === 0)
      .sort((a, b) => this.sign * (a.ticks - b.ticks) || a.id - b.id);
    const reached = this.stops.filter((stop) => stop.reachedAt !== 0 && !stop.isTriggered);
    const byRow = (a: readonly number[], b: readonly number[]): number => a[0]! - b[0]!;
    expect(told.slice(0, pending.length)).toEqual(pending.map(({ row }) => [row, 0]));
    expect(told.slice(pending.length).sort(byRow)).toEqual(
      reached.map(({ row, reachedAt }) => [row, reachedAt]).sort(byRow),
    );
    const counts = new Map<number, number>();
    for (const { reachedAt } of reached) counts.set(reachedAt, (counts.get(reachedAt) ?? 0) + 1);
    for (let seq = 1; seq <= this.seq; seq++) {
      expect(this.book.waitingSince(seq)).toBe(counts.get(seq) ?? 0);
    }
    for (const chunk of [...this.book.reached, ...this.book.triggered]) {
      for (let i = 0; i < chunk.count; i++) {
        const id = this.orders.id(chunk.orders[i]!);
        expect([chunk.ids[i], chunk.lots[i], chunk.accounts[i]]).toEqual([id, id, id]);
      }
    }
  }
}

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ add: fc.integer({ min: 1, max: 400 }) }) },
    { weight: 1, arbitrary: fc.record({ adds: fc.integer({ min: 1, max: 700 }) }) },
    { weight: 4, arbitrary: fc.record({ remove: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ removes: fc.integer({ min: 1, max: 600 }) }) },
    { weight: 1, arbitrary: fc.record({ triggers: fc.integer({ min: 1, max: 300 }) }) },
    { weight: 2, arbitrary: fc.record({ reach: fc.integer({ min: 1, max: 400 }) }) },
  ),
  // All lengths alike; by default most lists are short and reach nothing.
  { minLength: 1, maxLength: 60, size: "max" },
);

test("book of stops: agrees with a list after every series of adds, removals, reaches and triggers", () => {
  let reached = 0;
  let triggered = 0;
  fc.assert(
    fc.property(fc.constantFrom<1 | -1>(1, -1), fc.nat(), steps, (sign, salt, list) => {
      const pair = new Pair(sign, salt % 2 === 0 ? STOP_TRIGGER : TAKE_PROFIT_TRIGGER);
      let mixed = salt;
      const next = (below: number): number => {
        mixed = (Math.imul(mixed, 1_103_515_245) + 12_345) >>> 0;
        return (mixed >>> 8) % below;
      };
      for (const step of list) {
        if ("add" in step) pair.add(step.add);
        else if ("adds" in step) for (let i = 0; i < step.adds; i++) pair.add(1 + next(400));
        else if ("reach" in step) pair.reach(step.reach);
        else if ("triggers" in step) {
          for (let i = 0; i < step.triggers; i++) pair.trigger(next(1_000));
        } else {
          const count = "removes" in step ? step.removes : 1;
          const first = "remove" in step ? step.remove : next(1_000_000);
          for (let i = 0; i < count && pair.stops.length > 0; i++) {
            pair.remove((first + i * 7_919) % pair.stops.length);
          }
        }
      }
      pair.check();
      reached += pair.stops.filter((stop) => stop.reachedAt !== 0).length;
      triggered += pair.stops.filter((stop) => stop.isTriggered).length;
    }),
    { numRuns: 60 },
  );
  expect(reached).toBeGreaterThan(250);
  expect(triggered).toBeGreaterThan(25);
});

test("selection: the best of all, in order, however they are offered", () => {
  const weights = fc.array(fc.integer({ min: -5, max: 5 }), { maxLength: 60 });
  fc.assert(
    fc.property(weights, fc.integer({ min: 0, max: 20 }), (list, limit) => {
      const selection = new Selection(16);
      selection.begin(limit);
      list.forEach((weight, i) => {
        if (weight >= selection.floor) selection.offer(weight, i, i);
      });
      selection.sort();
      const got = Array.from({ length: selection.count }, (_, i) => selection.item(i));
      const expected = list
        .map((weight, i) => ({ weight, i }))
        .sort((a, b) => b.weight - a.weight || a.i - b.i)
        .slice(0, Math.min(limit, 16))
        .map(({ i }) => i);
      expect(got).toEqual(expected);
    }),
  );
});
