/**
 * A sealed block's header and its canonical encoding, whose SHA-256 is the block's hash:
 *
 *      0  8 bytes   ASCII "PGBLOCK1"        64  u64  number of acknowledgements
 *      8  u64       number                  72  32 bytes  root over them (merkle-path.ts)
 *     16  32 bytes  hash of the parent     104  32 bytes  hash of the events
 *     48  u64       first seq              136  u64  time, Unix milliseconds
 *     56  u64       last seq
 *
 * Little-endian, 144 bytes. Block 1's parent is 32 zero bytes. The hash of the events is SHA-256
 * over the canonical event bytes of the commands from the first to the last seq, in order.
 */

export interface BlockHeader {
  readonly number: number;
  readonly parentHash: Uint8Array;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly ackCount: number;
  readonly acksRoot: Uint8Array;
  readonly eventsHash: Uint8Array;
  readonly timeMs: number;
}

export const BLOCK_HASH_BYTES = 32;
export const BLOCK_HEADER_BYTES = 144;
export const BLOCK_MAGIC: Uint8Array = new TextEncoder().encode("PGBLOCK1");

/** @throws RangeError for a count that is not a safe integer, or a hash of another length. */
export function encodeBlockHeader(header: BlockHeader): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(BLOCK_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  bytes.set(BLOCK_MAGIC, 0);
  writeCount(view, 8, header.number);
  writeHash(bytes, 16, header.parentHash);
  writeCount(view, 48, header.firstPosition);
  writeCount(view, 56, header.lastPosition);
  writeCount(view, 64, header.ackCount);
  writeHash(bytes, 72, header.acksRoot);
  writeHash(bytes, 104, header.eventsHash);
  writeCount(view, 136, header.timeMs);
  return bytes;
}

function writeCount(view: DataView, at: number, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is no count`);
  view.setBigUint64(at, BigInt(value), true);
}

function writeHash(bytes: Uint8Array, at: number, hash: Uint8Array): void {
  if (hash.length !== BLOCK_HASH_BYTES) throw new RangeError(`a hash of ${hash.length} bytes`);
  bytes.set(hash, at);
}
