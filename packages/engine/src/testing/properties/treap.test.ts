/** Ordered sets of rows, against arrays. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { NONE } from "../../state/id-index.js";
import { FIXED_SEED } from "../../state/seeded-hash.js";
import { TREAP_WORDS, Treap } from "../../state/treap.js";

class Sets extends Treap {
  private readonly links = new Int32Array(TREAP_WORDS * 256);

  constructor(private readonly keys: readonly number[]) {
    super(TREAP_WORDS, FIXED_SEED);
  }

  rows(root: number): number[] {
    const rows: number[] = [];
    for (let row = this.first(root); row !== NONE; row = this.after(row)) {
      expect(this.rootOf(row)).toBe(root);
      expect(this.before(row)).toBe(rows.at(-1) ?? NONE);
      rows.push(row);
    }
    return rows;
  }

  protected override get treeLinks(): Int32Array {
    return this.links;
  }
  protected override idOf(row: number): number {
    return row + 1;
  }
  protected override isBefore(row: number, other: number): boolean {
    const difference = this.keys[row]! - this.keys[other]!;
    return difference !== 0 ? difference < 0 : row < other;
  }
}

test("adding, removing, putting back, cutting and joining do what they do to a sorted array", () => {
  const key = fc.nat(20);
  fc.assert(
    fc.property(fc.array(key, { maxLength: 60 }), fc.array(fc.nat(59)), key, (keys, picks, at) => {
      const sets = new Sets(keys);
      let root = NONE;
      const sorted = keys.map((_, row) => row).sort((a, b) => keys[a]! - keys[b]! || a - b);
      for (let row = 0; row < keys.length; row++) root = sets.insert(root, row);
      expect(sets.rows(root)).toEqual(sorted);
      const removed: [row: number, before: number][] = [];
      for (const row of new Set(picks.filter((pick) => pick < keys.length))) {
        removed.push([row, sets.before(row)]);
        root = sets.remove(root, row);
        sorted.splice(sorted.indexOf(row), 1);
      }
      expect(sets.rows(root)).toEqual(sorted);
      for (const [row, before] of removed.reverse()) {
        root = sets.insertAfter(root, before, row);
        sorted.splice(sorted.indexOf(before) + 1, 0, row);
      }
      expect(sets.rows(root)).toEqual(sorted);
      sets.cut(root, (row) => keys[row]! <= at);
      const { head, tail } = sets;
      expect(sets.rows(head)).toEqual(sorted.filter((row) => keys[row]! <= at));
      expect(sets.rows(tail)).toEqual(sorted.filter((row) => keys[row]! > at));
      expect(sets.rows(sets.join(head, tail))).toEqual(sorted);
    }),
  );
});
