/**
 * A Merkle sum tree of balances, with SHA-256. Every node has a hash and a sum in micro-dollars; the root commits
 * to both, and a path proves a balance in it.
 *
 *   leaf  SHA-256(0 ‖ address, 20 bytes ‖ salt, 16 bytes ‖ balance, 8 bytes)
 *   node  SHA-256(1 ‖ left hash ‖ left sum, 8 bytes ‖ right hash ‖ right sum, 8 bytes)
 *
 * Numbers are big-endian and below 2^53. The last node of a level without a sibling moves up unchanged. A sum that
 * left out a part, or a balance below zero, has another hash: both sums of the children are in it.
 */

import { sha256 } from "@noble/hashes/sha2.js";

export const SALT_BYTES = 16;
export const ADDRESS_BYTES = 20;
const HASH_BYTES = 32;
const SUM_BYTES = 8;
const SUM_LEAF_BYTES = 1 + ADDRESS_BYTES + SALT_BYTES + SUM_BYTES;
const SUM_NODE_BYTES = 1 + 2 * (HASH_BYTES + SUM_BYTES);

interface SumNode {
  readonly hash: Uint8Array;
  readonly sumMicros: number;
}

export interface PathNode extends SumNode {
  /** On which side of the path it is. */
  readonly side: "left" | "right";
}

/** What a leaf's hash is of. */
export function sumLeafBytes(
  address: Uint8Array,
  salt: Uint8Array,
  balanceMicros: number,
): Uint8Array {
  const bytes = new Uint8Array(SUM_LEAF_BYTES);
  bytes.set(address, 1);
  bytes.set(salt, 1 + ADDRESS_BYTES);
  writeSum(bytes, 1 + ADDRESS_BYTES + SALT_BYTES, balanceMicros);
  return bytes;
}

/** What a node's hash is of. */
export function sumNodeBytes(left: SumNode, right: SumNode): Uint8Array {
  const bytes = new Uint8Array(SUM_NODE_BYTES);
  bytes[0] = 1;
  bytes.set(left.hash, 1);
  writeSum(bytes, 1 + HASH_BYTES, left.sumMicros);
  bytes.set(right.hash, 1 + HASH_BYTES + SUM_BYTES);
  writeSum(bytes, 1 + 2 * HASH_BYTES + SUM_BYTES, right.sumMicros);
  return bytes;
}

/** The root that a leaf and its path lead to; undefined for a balance or a sum below zero, or of 2^53 or more. */
export function rootOfSums(leafBytes: Uint8Array, path: readonly PathNode[]): SumNode | undefined {
  if (leafBytes.length !== SUM_LEAF_BYTES || leafBytes[0] !== 0) return undefined;
  const view = new DataView(leafBytes.buffer, leafBytes.byteOffset, leafBytes.byteLength);
  const balance = Number(view.getBigUint64(SUM_LEAF_BYTES - SUM_BYTES));
  let node: SumNode = { hash: sha256(leafBytes), sumMicros: balance };
  if (!isSum(balance)) return undefined;
  for (const { side, ...sibling } of path) {
    if (!isSum(sibling.sumMicros) || sibling.hash.length !== HASH_BYTES) return undefined;
    const [left, right] = side === "left" ? [sibling, node] : [node, sibling];
    const sumMicros = left.sumMicros + right.sumMicros;
    if (!isSum(sumMicros)) return undefined;
    node = { hash: sha256(sumNodeBytes(left, right)), sumMicros };
  }
  return node;
}

function isSum(micros: number): boolean {
  return Number.isSafeInteger(micros) && micros >= 0;
}

function writeSum(bytes: Uint8Array, at: number, micros: number): void {
  if (!isSum(micros)) throw new RangeError(`${micros} is no sum of a tree`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  view.setBigUint64(at, BigInt(micros));
}
