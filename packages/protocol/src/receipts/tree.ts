/**
 * RFC 6962 trees over SHA-256 from the hashes of their leaves: roots, inclusion and consistency. The
 * hashes of a proof come from complete subtrees, which a log serves in tiles (tiles.ts), so a proof is
 * first a plan of subtrees and then their hashes.
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { treeNodeHash } from "../blocks/merkle-path.js";

export const TREE_HASH_BYTES = 32;

/** The root over leaf hashes; of none, the hash of nothing. */
export function rootOfLeafHashes(hashes: readonly Uint8Array[]): Uint8Array {
  if (hashes.length === 0) return sha256(new Uint8Array(0));
  if (hashes.length === 1) return hashes[0]!;
  const split = splitOf(hashes.length);
  return treeNodeHash(
    rootOfLeafHashes(hashes.slice(0, split)),
    rootOfLeafHashes(hashes.slice(split)),
  );
}

/** The largest power of two below `size`, which is at least 2. */
function splitOf(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

/** The leaves from `start` up to `end`, `end` excluded. */
export interface LeafRange {
  readonly start: number;
  readonly end: number;
}

/** A complete subtree: the leaves from `index` × 2^`level` on, 2^`level` of them. */
export interface Subtree {
  readonly level: number;
  readonly index: number;
}

/** The ranges whose roots are the path of a leaf, from the leaf up. */
export function inclusionRanges(index: number, size: number): LeafRange[] {
  if (!(index >= 0 && index < size)) throw new RangeError(`no leaf ${index} of ${size}`);
  const ranges: LeafRange[] = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + splitOf(end - start);
    if (index < middle) {
      ranges.push({ start: middle, end });
      end = middle;
    } else {
      ranges.push({ start, end: middle });
      start = middle;
    }
  }
  return ranges.reverse();
}

/**
 * The ranges whose roots prove that a tree of `first` leaves is the beginning of one of `second`, as in
 * RFC 6962, section 2.1.2. `withSeed` adds the first tree itself where the RFC leaves it out because
 * both sides know it: when `first` is a power of two.
 */
export function consistencyRanges(first: number, second: number, withSeed = false): LeafRange[] {
  if (!(first > 0 && first <= second)) throw new RangeError(`no proof from ${first} to ${second}`);
  const ranges: LeafRange[] = [];
  let [start, end] = [0, second];
  while (first !== end) {
    const middle = start + splitOf(end - start);
    if (first <= middle) {
      ranges.push({ start: middle, end });
      end = middle;
    } else {
      ranges.push({ start, end: middle });
      start = middle;
    }
  }
  if (start > 0 || withSeed) ranges.push({ start, end });
  return ranges.reverse();
}

/** The complete subtrees of a range that a proof or a tree begins with, the largest first. */
export function subtreesOf({ start, end }: LeafRange): Subtree[] {
  const subtrees: Subtree[] = [];
  for (let at = start; at < end; ) {
    let [level, leaves] = [0, 1];
    while (leaves * 2 <= end - at && at % (leaves * 2) === 0)
      [level, leaves] = [level + 1, leaves * 2];
    subtrees.push({ level, index: at / leaves });
    at += leaves;
  }
  return subtrees;
}

/** The root of a range from the hashes of its `subtreesOf`. */
export function rootOfSubtrees(hashes: readonly Uint8Array[]): Uint8Array {
  return hashes.reduceRight((right, left) => treeNodeHash(left, right));
}

/**
 * Both roots that follow from the hashes of `consistencyRanges(first, second, true)`. The second one is
 * compared with a signed root; then the first one is the root that the first tree must have had.
 * Undefined if there are too few or too many hashes, or one has another length: then the same bytes, cut
 * elsewhere, would give the second root and another first one.
 */
export function rootsOfConsistency(
  first: number,
  second: number,
  seeded: readonly Uint8Array[],
): { readonly first: Uint8Array; readonly second: Uint8Array } | undefined {
  if (!(first > 0 && first <= second) || seeded.length === 0) return undefined;
  if (seeded.some(({ length }) => length !== TREE_HASH_BYTES)) return undefined;
  if (first === second) {
    return seeded.length === 1 ? { first: seeded[0]!, second: seeded[0]! } : undefined;
  }
  let [place, last] = [first - 1, second - 1];
  while (place % 2 === 1) [place, last] = [half(place), half(last)];
  let [one, two] = [seeded[0]!, seeded[0]!];
  for (const hash of seeded.slice(1)) {
    if (last === 0) return undefined;
    if (place % 2 === 1 || place === last) {
      [one, two] = [treeNodeHash(hash, one), treeNodeHash(hash, two)];
      while (place % 2 === 0 && place !== 0) [place, last] = [half(place), half(last)];
    } else {
      two = treeNodeHash(two, hash);
    }
    [place, last] = [half(place), half(last)];
  }
  return last === 0 ? { first: one, second: two } : undefined;
}

function half(place: number): number {
  return Math.floor(place / 2);
}
