/**
 * The Merkle tree over a block's acknowledgements, as in RFC 6962: a leaf is hashed with the prefix
 * byte 0, an inner node with 1, so that neither can pass for the other; a tree of n leaves splits at
 * the largest power of two below n; the root of no leaves is the hash of the empty string. Clients
 * check a path with the protocol's `rootFromPath`.
 */
import { hash } from "node:crypto";

/**
 * A hash while a tree is built: 32 bytes as 32 latin1 characters. A string needs no memory outside the
 * heap, which makes adding an acknowledgement three times as fast as with buffers.
 */
export type HashText = string;

const HASH_BYTES = 32;
const LEAF_PREFIX = 0;
const NODE_PREFIX = 1;
const node = Buffer.alloc(1 + 2 * HASH_BYTES, NODE_PREFIX);
/** Holds any leaf of an acknowledgement behind its prefix; a longer leaf is copied. */
const shortLeaf = Buffer.alloc(512, LEAF_PREFIX);

export function sha256(bytes: Uint8Array): Buffer {
  return hash("sha256", bytes, "buffer");
}

export function leafHash(leaf: Uint8Array): Buffer {
  return bytesOf(leafText(leaf));
}

function leafText(leaf: Uint8Array): HashText {
  const bytes = 1 + leaf.length;
  const prefixed = bytes <= shortLeaf.length ? shortLeaf : Buffer.alloc(bytes, LEAF_PREFIX);
  prefixed.set(leaf, 1);
  return hash("sha256", prefixed.subarray(0, bytes), "binary");
}

export function nodeHash(left: Buffer, right: Buffer): Buffer {
  node.set(left, 1);
  node.set(right, 1 + HASH_BYTES);
  return hash("sha256", node, "buffer");
}

function nodeText(left: HashText, right: HashText): HashText {
  node.write(left, 1, "binary");
  node.write(right, 1 + HASH_BYTES, "binary");
  return hash("sha256", node, "binary");
}

function bytesOf(text: HashText): Buffer {
  return Buffer.from(text, "binary");
}

/** Builds the root leaf by leaf, keeping one hash per complete subtree. */
export class MerkleAccumulator {
  count = 0;
  /** Roots of complete subtrees, the largest first: one per set bit of `count`. */
  private readonly subtrees: HashText[] = [];

  /** Returns the leaf's hash as text in latin1. */
  add(leaf: Uint8Array): HashText {
    const added = leafText(leaf);
    let text = added;
    for (let size = this.count; size % 2 === 1; size = (size - 1) / 2) {
      text = nodeText(this.subtrees.pop()!, text);
    }
    this.subtrees.push(text);
    this.count++;
    return added;
  }

  root(): Buffer {
    let root = this.subtrees.at(-1);
    if (root === undefined) return sha256(new Uint8Array(0));
    for (let i = this.subtrees.length - 2; i >= 0; i--) root = nodeText(this.subtrees[i]!, root);
    return bytesOf(root);
  }
}

/** Sibling hashes from the leaf up to the root. */
export function inclusionPath(leaves: readonly Uint8Array[], index: number): Buffer[] {
  if (!(index >= 0 && index < leaves.length)) throw new RangeError(`no leaf ${index}`);
  return pathWithin(leaves.map(leafText), index).map(bytesOf);
}

function pathWithin(hashes: readonly HashText[], index: number): HashText[] {
  if (hashes.length === 1) return [];
  const split = largestPowerOfTwoBelow(hashes.length);
  const left = hashes.slice(0, split);
  const right = hashes.slice(split);
  return index < split
    ? [...pathWithin(left, index), rootOf(right)]
    : [...pathWithin(right, index - split), rootOf(left)];
}

/** The root over hashes of leaves, or of complete subtrees of one size. */
export function rootOfHashes(hashes: readonly Uint8Array[]): Buffer {
  return bytesOf(rootOf(hashes.map((each) => Buffer.from(each).toString("binary"))));
}

function rootOf(hashes: readonly HashText[]): HashText {
  if (hashes.length === 1) return hashes[0]!;
  const split = largestPowerOfTwoBelow(hashes.length);
  return nodeText(rootOf(hashes.slice(0, split)), rootOf(hashes.slice(split)));
}

function largestPowerOfTwoBelow(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}
