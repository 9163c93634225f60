import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { hexFromBytes } from "../text/hex.js";
import { pathLength, rootFromPath } from "./merkle-path.js";

const sha256 = (...parts: Uint8Array[]): Uint8Array =>
  Uint8Array.from(createHash("sha256").update(Buffer.concat(parts)).digest());

/** RFC 6962, 2.1 and 2.1.1, over the leaves from `from` to before `to`; each hash is made once. */
class Tree {
  private readonly known = new Map<string, Uint8Array>();

  constructor(private readonly leaves: readonly Uint8Array[]) {}

  hash(from = 0, to = this.leaves.length): Uint8Array {
    const key = `${from} ${to}`;
    const hash = this.known.get(key) ?? this.computeHash(from, to);
    this.known.set(key, hash);
    return hash;
  }

  path(m: number, from = 0, to = this.leaves.length): Uint8Array[] {
    if (to - from === 1) return [];
    const k = from + splitOf(to - from);
    return m < k
      ? [...this.path(m, from, k), this.hash(k, to)]
      : [...this.path(m, k, to), this.hash(from, k)];
  }

  private computeHash(from: number, to: number): Uint8Array {
    if (to - from === 1) return sha256(Uint8Array.of(0), this.leaves[from] ?? new Uint8Array());
    const k = from + splitOf(to - from);
    return sha256(Uint8Array.of(1), this.hash(from, k), this.hash(k, to));
  }
}

function splitOf(count: number): number {
  let k = 1;
  while (k * 2 < count) k *= 2;
  return k;
}

const leavesOf = (count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, i) => Uint8Array.from(Buffer.from(`leaf ${i} of ${count}`)));

describe("rootFromPath: RFC 6962's audit path", () => {
  test("every leaf of every tree up to 70: gives the root, and not with another index", () => {
    for (let count = 1; count <= 70; count++) {
      const leaves = leavesOf(count);
      const tree = new Tree(leaves);
      const root = hexFromBytes(tree.hash());
      const led = (...given: Parameters<typeof rootFromPath>) => {
        const end = rootFromPath(...given);
        return end === undefined ? undefined : hexFromBytes(end);
      };
      leaves.forEach((leaf, index) => {
        const path = tree.path(index);
        expect(pathLength(index, count)).toBe(path.length);
        expect(led(leaf, index, count, path)).toBe(root);
        const other = (index + 1 + (index % Math.max(1, count - 1))) % count;
        if (other !== index) expect(led(leaf, other, count, path)).not.toBe(root);
      });
    }
  });

  test("a path that is too short or too long: undefined, for every index up to 70", () => {
    for (let count = 1; count <= 70; count++) {
      const leaves = leavesOf(count);
      leaves.forEach((leaf, index) => {
        const path = Array.from({ length: pathLength(index, count) }, () => sha256(leaf));
        expect(rootFromPath(leaf, index, count, [...path, sha256(leaf)])).toBeUndefined();
        if (count > 1) expect(rootFromPath(leaf, index, count, path.slice(1))).toBeUndefined();
      });
    }
  });

  test("an inner node: not accepted as a leaf", () => {
    const [left, right] = leavesOf(2).map((leaf) => sha256(Uint8Array.of(0), leaf));
    const inner = Uint8Array.of(...(left ?? []), ...(right ?? []));
    expect(rootFromPath(inner, 0, 1, [])).not.toEqual(new Tree(leavesOf(2)).hash());
  });

  test("an index outside the tree: undefined", () => {
    const leaf = Uint8Array.of(1);
    for (const [index, count] of [
      [0, 0],
      [1, 1],
      [-1, 3],
      [Number.NaN, 3],
      [0, Number.NaN],
    ] as const) {
      expect(rootFromPath(leaf, index, count, [])).toBeUndefined();
    }
    expect(pathLength(0, Number.MAX_SAFE_INTEGER)).toBe(53);
  });
});
