/**
 * The list of a block's acknowledgements: for each, in order, its log position (u64, little-endian) and
 * the RFC 6962 hash of its leaf. Its SHA-256 is in the block's header, so what is not in the list is not
 * in the block; the leaf hashes give the block's `acksRoot`.
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { ByteReader } from "./bytes.js";
import { TREE_HASH_BYTES } from "./tree.js";

export const ACK_ENTRY_BYTES = 8 + TREE_HASH_BYTES;

export interface ListedAck {
  readonly position: number;
  readonly leafHash: Uint8Array;
}

/** The entries; undefined unless the positions rise. */
export function parseAckList(bytes: Uint8Array): ListedAck[] | undefined {
  if (bytes.length % ACK_ENTRY_BYTES !== 0) return undefined;
  const reader = new ByteReader(bytes);
  const entries: ListedAck[] = [];
  try {
    for (let last = 0; reader.left > 0; ) {
      const position = reader.count(8);
      if (position <= last) return undefined;
      last = position;
      entries.push({ position, leafHash: reader.take(TREE_HASH_BYTES) });
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return entries;
}

export function ackListHash(bytes: Uint8Array): Uint8Array {
  return sha256(bytes);
}
