import { createHash } from "node:crypto";
import { rootFromPath } from "@perpgate/protocol/core";
import { describe, expect, test } from "vitest";
import { MerkleAccumulator, MerkleTree } from "./merkle.js";

const sha256 = (...parts: Uint8Array[]): Buffer =>
  createHash("sha256").update(Buffer.concat(parts)).digest();

/** RFC 6962, section 2.1, literally. */
function treeHash(leaves: readonly Uint8Array[]): Buffer {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return sha256(Buffer.of(0), leaves[0]!);
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return sha256(Buffer.of(1), treeHash(leaves.slice(0, k)), treeHash(leaves.slice(k)));
}

const leavesOf = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, i) => Buffer.from(`leaf ${i}`));

function treeOf(leaves: readonly Uint8Array[]): MerkleTree {
  const tree = new MerkleTree();
  for (const leaf of leaves) tree.add(leaf);
  return tree;
}

describe("the Merkle tree", () => {
  test("root: equals RFC 6962's for every size up to 130", () => {
    const accumulator = new MerkleAccumulator();
    for (let count = 0; count <= 130; count++) {
      expect(accumulator.root().equals(treeHash(leavesOf(count)))).toBe(true);
      accumulator.add(Buffer.from(`leaf ${count}`));
    }
  });

  test("path: leads from every leaf of every tree to its root", () => {
    for (let count = 1; count <= 40; count++) {
      const leaves = leavesOf(count);
      const root = treeHash(leaves);
      const tree = treeOf(leaves);
      leaves.forEach((leaf, index) => {
        const path = tree.path(index);
        expect(root.equals(rootFromPath(leaf, index, count, path)!)).toBe(true);
      });
    }
  });
});
