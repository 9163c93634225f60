/**
 * A sealed block, and its header as the bytes whose SHA-256 is the block's hash. The protocol's
 * `block-header.ts` defines the bytes, because clients encode them too.
 */
import { BLOCK_HASH_BYTES, encodeBlockHeader, readBlockHeader } from "@perpgate/protocol/core";
import { sha256 } from "./merkle.js";

interface BlockHeader {
  readonly number: number;
  readonly parentHash: Buffer;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly ackCount: number;
  readonly acksRoot: Buffer;
  readonly ackListHash: Buffer;
  readonly eventsHash: Buffer;
  readonly timeMs: number;
}

export interface SealedBlock extends BlockHeader {
  readonly hash: Buffer;
}

export const HASH_BYTES = BLOCK_HASH_BYTES;
export const NO_PARENT: Buffer = Buffer.alloc(HASH_BYTES);

export function encodeHeader(header: BlockHeader): Buffer {
  return Buffer.from(encodeBlockHeader(header).buffer);
}

export function seal(header: BlockHeader): SealedBlock {
  return { ...header, hash: sha256(encodeHeader(header)) };
}

/** Decodes a canonical header; undefined if the bytes are none. */
export function decodeBlock(bytes: Buffer): SealedBlock | undefined {
  const header = readBlockHeader(bytes);
  if (header === undefined) return undefined;
  const { parentHash, acksRoot, ackListHash, eventsHash } = header;
  return {
    ...header,
    parentHash: Buffer.from(parentHash),
    acksRoot: Buffer.from(acksRoot),
    ackListHash: Buffer.from(ackListHash),
    eventsHash: Buffer.from(eventsHash),
    hash: sha256(bytes),
  };
}
