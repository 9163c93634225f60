import fc from "fast-check";
import { expect, test } from "vitest";
import { SortedIds } from "./sorted-ids.js";

const ids = fc.array(fc.integer({ min: 1, max: 4_000 }), { maxLength: 3_000 });

test("add and delete: pages equal those of a sorted list", () => {
  fc.assert(
    fc.property(
      ids,
      ids,
      fc.nat(4_001),
      fc.integer({ min: 1, max: 700 }),
      (add, remove, at, limit) => {
        const index = new SortedIds();
        const model = new Set<number>();
        for (const id of add) {
          index.add(id);
          model.add(id);
        }
        for (const id of remove) {
          index.delete(id);
          model.delete(id);
        }
        const sorted = [...model].sort((a, b) => a - b);
        expect(index.size).toBe(sorted.length);
        expect(index.above(at, limit)).toEqual(sorted.filter((id) => id > at).slice(0, limit));
        expect(index.below(at, limit)).toEqual(
          sorted
            .filter((id) => id < at)
            .reverse()
            .slice(0, limit),
        );
      },
    ),
    { numRuns: 60 },
  );
});

test("above and below: all pages contain every number once", () => {
  const index = new SortedIds();
  for (let id = 1; id <= 10_000; id++) index.add(id);
  const upward: number[] = [];
  for (let page = index.above(0, 500); page.length > 0; page = index.above(upward.at(-1)!, 500)) {
    upward.push(...page);
  }
  const downward: number[] = [];
  let before = SortedIds.END;
  for (let page = index.below(before, 500); page.length > 0; page = index.below(before, 500)) {
    downward.push(...page);
    before = page.at(-1)!;
  }
  expect(upward).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 1));
  expect(downward).toEqual([...upward].reverse());
});
