/**
 * A sealed block's header and its one canonical encoding, whose SHA-256 is the block's hash:
 *
 *      0  8 bytes   ASCII "PGBLOCK1"        64  u64  number of acknowledgements
 *      8  u64       number                  72  32 bytes  root over them (merkle.ts)
 *     16  32 bytes  hash of the parent     104  32 bytes  hash of the events
 *     48  u64       first position         136  u64  time, Unix milliseconds
 *     56  u64       last position
 *
 * Little-endian, 144 bytes. Block 1's parent is 32 zero bytes. The hash of the events is SHA-256
 * over the canonical event bytes of the commands from first to last position, in order.
 */
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

export const HASH_BYTES = 32;
export const NO_PARENT: Buffer = Buffer.alloc(HASH_BYTES);
export const HEADER_BYTES = 144;
const MAGIC = Buffer.from("PGBLOCK1", "ascii");

export function encodeHeader(header: BlockHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.set(MAGIC, 0);
  writeCount(bytes, 8, header.number);
  bytes.set(header.parentHash, 16);
  writeCount(bytes, 48, header.firstPosition);
  writeCount(bytes, 56, header.lastPosition);
  writeCount(bytes, 64, header.ackCount);
  bytes.set(header.acksRoot, 72);
  bytes.set(header.eventsHash, 104);
  writeCount(bytes, 136, header.timeMs);
  return bytes;
}

export function seal(header: BlockHeader): SealedBlock {
  return { ...header, hash: sha256(encodeHeader(header)) };
}

/** The block whose canonical header these bytes are; undefined if they are none. */
export function decodeBlock(bytes: Buffer): SealedBlock | undefined {
  if (bytes.length !== HEADER_BYTES || MAGIC.compare(bytes, 0, 8) !== 0) return undefined;
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

function writeCount(bytes: Buffer, at: number, value: number): void {
  bytes.writeBigUInt64LE(BigInt(value), at);
}

function readCount(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at));
}
