/**
 * The Merkle tree over a block's acknowledgements, as RFC 6962 builds it: a leaf is hashed behind
 * the byte 0, an inner node behind the byte 1, so that neither can pass for the other; a tree of n
 * leaves splits at the largest power of two below n; the root of no leaves is the hash of nothing.
 */
import { createHash } from "node:crypto";

const LEAF_PREFIX = Uint8Array.of(0);
const NODE_PREFIX = Uint8Array.of(1);

export function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

export function leafHash(leaf: Uint8Array): Buffer {
  return sha256(LEAF_PREFIX, leaf);
}

function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return sha256(NODE_PREFIX, left, right);
}

/** Builds the root leaf by leaf, keeping one hash per complete subtree. */
export class MerkleAccumulator {
  count = 0;
  /** Roots of complete subtrees, the largest first: one per set bit of `count`. */
  private readonly subtrees: Buffer[] = [];

  add(leaf: Uint8Array): void {
    let hash = leafHash(leaf);
    for (let size = this.count; size % 2 === 1; size = (size - 1) / 2) {
      hash = nodeHash(this.subtrees.pop()!, hash);
    }
    this.subtrees.push(hash);
    this.count++;
  }

  root(): Buffer {
    let root = this.subtrees.at(-1);
    if (root === undefined) return sha256();
    for (let i = this.subtrees.length - 2; i >= 0; i--) root = nodeHash(this.subtrees[i]!, root);
    return root;
  }
}

/** Sibling hashes from the leaf up to the root. */
export function inclusionPath(leaves: readonly Uint8Array[], index: number): Buffer[] {
  if (!(index >= 0 && index < leaves.length)) throw new RangeError(`no leaf ${index}`);
  return pathWithin(leaves.map(leafHash), index);
}

function pathWithin(hashes: readonly Buffer[], index: number): Buffer[] {
  if (hashes.length === 1) return [];
  const split = largestPowerOfTwoBelow(hashes.length);
  const left = hashes.slice(0, split);
  const right = hashes.slice(split);
  return index < split
    ? [...pathWithin(left, index), rootOf(right)]
    : [...pathWithin(right, index - split), rootOf(left)];
}

function rootOf(hashes: readonly Buffer[]): Buffer {
  if (hashes.length === 1) return hashes[0]!;
  const split = largestPowerOfTwoBelow(hashes.length);
  return nodeHash(rootOf(hashes.slice(0, split)), rootOf(hashes.slice(split)));
}

function largestPowerOfTwoBelow(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}

/**
 * The root that a leaf and its path lead to, in a tree of `count` leaves; undefined if the path
 * has another length than the leaf's place asks for. Whoever holds a block's `acksRoot` compares.
 */
export function rootFromPath(
  leaf: Uint8Array,
  index: number,
  count: number,
  path: readonly Uint8Array[],
): Buffer | undefined {
  if (!(index >= 0 && index < count)) return undefined;
  let hash = leafHash(leaf);
  let place = index;
  let last = count - 1;
  let used = 0;
  while (last > 0) {
    // The last node of a level without a sibling is passed up as it is.
    if (place % 2 === 1 || place < last) {
      const sibling = path[used++];
      if (sibling === undefined) return undefined;
      hash = place % 2 === 1 ? nodeHash(sibling, hash) : nodeHash(hash, sibling);
    }
    place = Math.floor(place / 2);
    last = Math.floor(last / 2);
  }
  return used === path.length ? hash : undefined;
}
