import { TILE_HASHES } from "@perpgate/protocol/receipts";
import { describe, expect, test } from "vitest";
import { leafHash, MerkleTree, rootOfHashes } from "../blocks/merkle.js";
import { BlockTree } from "./block-tree.js";

const BLOCKS = 3 * TILE_HASHES + 77;
const LEAVES = Array.from({ length: BLOCKS }, (_, i) => Buffer.from(`block ${i + 1}`));
const HASHES = LEAVES.map(leafHash);

/** A tree over the first blocks, as a history stores it, and the number of hashes read from it. */
function newTree() {
  let reads = 0;
  const stored = [HASHES, rootsOfTiles()];
  const tree = new BlockTree({
    headers: () => [],
    newestBlock: () => undefined,
    treeHashes: (level, first, count) => {
      reads += count;
      return stored[level]!.slice(first, first + count);
    },
  });
  return { tree, reads: () => reads };
}

function rootsOfTiles(): Buffer[] {
  const roots: Buffer[] = [];
  for (let at = 0; at + TILE_HASHES <= BLOCKS; at += TILE_HASHES) {
    roots.push(rootOfHashes(HASHES.slice(at, at + TILE_HASHES)));
  }
  return roots;
}

describe("the tree of the transparency log", () => {
  test("roots and paths are those of RFC 6962, whatever was asked for before", () => {
    const { tree } = newTree();
    for (const size of [1, 2, 3, 255, 256, 257, 511, 700, BLOCKS]) {
      expect(tree.rootAt(size)).toEqual(rootOfHashes(HASHES.slice(0, size)));
      const peer = new MerkleTree();
      for (const leaf of LEAVES.slice(0, size)) peer.add(leaf);
      for (const index of [0, 1, 100, 255, 256, 300, 511, 699, size - 1]) {
        if (index < size) expect(tree.inclusion(index, size)).toEqual(peer.path(index));
      }
    }
  });

  test("many paths of one tile: its hashes are read once, and each read is reported", () => {
    const { tree, reads } = newTree();
    let reported = 0;
    for (let round = 0; round < 2; round++) {
      for (let index = 0; index < TILE_HASHES; index++) {
        tree.inclusion(index, BLOCKS, (hashes) => {
          reported += hashes;
        });
      }
    }
    expect(reported).toBe(reads());
    // Each level of the tile from its stored hashes, the roots of the other tiles, the last tile's part.
    expect(reads()).toBeLessThan(6 * TILE_HASHES);
  });
});
