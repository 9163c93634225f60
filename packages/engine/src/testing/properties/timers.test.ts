/** Timers against a sorted list, over random sets, changes and removals. */
import { Random } from "@perpgate/protocol/random";
import { describe, expect, test } from "vitest";
import { Timers } from "../../state/timers.js";

function first(times: ReadonlyMap<number, number>): [id: number, time: number] | undefined {
  return [...times].sort(([a, at], [b, bt]) => at - bt || a - b)[0];
}

describe("timers", () => {
  test.each([1, 2, 3, 4, 5])("the same as a sorted list: seed %i", (seed) => {
    const random = new Random(seed, "timers");
    const timers = new Timers();
    const expected = new Map<number, number>();
    for (let step = 0; step < 4_000; step++) {
      const id = random.int(1, 60);
      const kind = random.weighted({ set: 6, delete: 2, pop: 2 });
      if (kind === "set") {
        const time = random.int(1, 40);
        timers.set(id, time);
        expected.set(id, time);
      } else if (kind === "delete") {
        timers.delete(id);
        expected.delete(id);
      } else if (expected.size > 0) {
        const [least = 0] = first(expected) ?? [];
        expect(timers.pop()).toBe(least);
        expected.delete(least);
      }
      const sorted = [...expected].sort(([a, at], [b, bt]) => at - bt || a - b);
      const due = sorted.filter(([, time]) => time <= 20).slice(0, 12);
      expect(timers.due(20, 12)).toEqual(due.map(([each]) => each));
      expect(timers.size).toBe(expected.size);
      expect(timers.nextTime()).toBe(first(expected)?.[1] ?? Number.POSITIVE_INFINITY);
    }
    timers.clear();
    expect([timers.size, timers.nextTime()]).toEqual([0, Number.POSITIVE_INFINITY]);
  });
});
