/**
 * The root of a block's tree from a leaf and its path: RFC 6962 with SHA-256. A leaf is hashed after the
 * byte 0, an inner node after the byte 1, so that neither can be mistaken for the other; a tree of n
 * leaves splits at the largest power of two below n. Does not need WebCrypto, which pages without TLS
 * lack.
 */

import { sha256 } from "@noble/hashes/sha2.js";

const LEAF_PREFIX = Uint8Array.of(0);
const NODE_PREFIX = Uint8Array.of(1);

export function treeLeafHash(leaf: Uint8Array): Uint8Array {
  return hashOf(LEAF_PREFIX, leaf);
}

export function treeNodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return hashOf(NODE_PREFIX, left, right);
}

/** Number of hashes in the path of that leaf, in a tree of `count` leaves. */
export function pathLength(index: number, count: number): number {
  let length = 0;
  for (let place = index, last = count - 1; last > 0; place = half(place), last = half(last)) {
    if (hasSibling(place, last)) length++;
  }
  return length;
}

/**
 * The root that follows from a leaf and its path, in a tree of `count` leaves, to compare with a block's
 * `acksRoot`. Undefined if there is no such leaf or its path has another length.
 */
export function rootFromPath(
  leaf: Uint8Array,
  index: number,
  count: number,
  path: readonly Uint8Array[],
): Uint8Array | undefined {
  return rootFromLeafHash(treeLeafHash(leaf), index, count, path);
}

/** As `rootFromPath`, from the hash of the leaf. */
export function rootFromLeafHash(
  leafHash: Uint8Array,
  index: number,
  count: number,
  path: readonly Uint8Array[],
): Uint8Array | undefined {
  if (!(index >= 0 && index < count) || path.length !== pathLength(index, count)) return undefined;
  let hash = leafHash;
  let place = index;
  let last = count - 1;
  for (const sibling of path) {
    // The last node of a level without a sibling moves up unchanged.
    while (!hasSibling(place, last)) [place, last] = [half(place), half(last)];
    hash = isRight(place) ? treeNodeHash(sibling, hash) : treeNodeHash(hash, sibling);
    [place, last] = [half(place), half(last)];
  }
  return hash;
}

function hasSibling(place: number, last: number): boolean {
  return isRight(place) || place < last;
}

function isRight(place: number): boolean {
  return place % 2 === 1;
}

function half(place: number): number {
  return Math.floor(place / 2);
}

function hashOf(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = sha256.create();
  for (const part of parts) hash.update(part);
  return hash.digest();
}
