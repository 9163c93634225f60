/**
 * A sealed block, and its header as the bytes whose SHA-256 is the block's hash. The protocol's
 * `block-header.ts` defines the bytes, because clients encode them too.
 */
import {
  BLOCK_HASH_BYTES,
  BLOCK_HEADER_BYTES,
  BLOCK_MAGIC,
  encodeBlockHeader,
} from "@perpgate/protocol/core";
import { sha256 } from "./merkle.js";

export interface BlockHeader {
  readonly number: number;
  readonly parentHash: Buffer;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly ackCount: number;
  readonly acksRoot: Buffer;
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
  if (bytes.length !== BLOCK_HEADER_BYTES) return undefined;
  if (bytes.compare(BLOCK_MAGIC, 0, BLOCK_MAGIC.length, 0, BLOCK_MAGIC.length) !== 0) {
    return undefined;
  }
  return {
    number: readCount(bytes, 8),
    parentHash: Buffer.from(bytes.subarray(16, 48)),
    firstPosition: readCount(bytes, 48),
    lastPosition: readCount(bytes, 56),
    ackCount: readCount(bytes, 64),
    acksRoot: Buffer.from(bytes.subarray(72, 104)),
    eventsHash: Buffer.from(bytes.subarray(104, 136)),
    timeMs: readCount(bytes, 136),
    hash: sha256(bytes),
  };
}

function readCount(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at));
}
