/**
 * A sealed block's header and its canonical encoding, whose SHA-256 is the block's hash:
 *
 *      0  8 bytes   ASCII "PGBLOCK2"        64  u64  number of acknowledgements
 *      8  u64       number                  72  32 bytes  root over them (merkle-path.ts)
 *     16  32 bytes  hash of the parent     104  32 bytes  hash of their list
 *     48  u64       first seq              136  32 bytes  hash of the events
 *     56  u64       last seq               168  u64  time, Unix milliseconds
 *
 * Little-endian, 176 bytes. Block 1's parent is 32 zero bytes. The list of acknowledgements is their seqs
 * and leaf hashes (receipts/ack-list.ts). The hash of the events is SHA-256 over the canonical event bytes
 * of the commands from the first to the last seq, in order.
 */

export interface BlockHeader {
  readonly number: number;
  readonly parentHash: Uint8Array;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly ackCount: number;
  readonly acksRoot: Uint8Array;
  readonly ackListHash: Uint8Array;
  readonly eventsHash: Uint8Array;
  readonly timeMs: number;
}

export const BLOCK_HASH_BYTES = 32;
export const BLOCK_HEADER_BYTES = 176;
const BLOCK_MAGIC: Uint8Array = new TextEncoder().encode("PGBLOCK2");

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
  writeHash(bytes, 104, header.ackListHash);
  writeHash(bytes, 136, header.eventsHash);
  writeCount(view, 168, header.timeMs);
  return bytes;
}

/** The header of canonical bytes; undefined if they are none. */
export function readBlockHeader(bytes: Uint8Array): BlockHeader | undefined {
  if (bytes.length !== BLOCK_HEADER_BYTES) return undefined;
  if (!BLOCK_MAGIC.every((byte, i) => bytes[i] === byte)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = (at: number) => Number(view.getBigUint64(at, true));
  const hash = (at: number) => bytes.slice(at, at + BLOCK_HASH_BYTES);
  const header = {
    number: count(8),
    parentHash: hash(16),
    firstPosition: count(48),
    lastPosition: count(56),
    ackCount: count(64),
    acksRoot: hash(72),
    ackListHash: hash(104),
    eventsHash: hash(136),
    timeMs: count(168),
  };
  const { number, firstPosition, lastPosition, ackCount, timeMs } = header;
  const counts = [number, firstPosition, lastPosition, ackCount, timeMs];
  return counts.every(Number.isSafeInteger) ? header : undefined;
}

function writeCount(view: DataView, at: number, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is no count`);
  view.setBigUint64(at, BigInt(value), true);
}

function writeHash(bytes: Uint8Array, at: number, hash: Uint8Array): void {
  if (hash.length !== BLOCK_HASH_BYTES) throw new RangeError(`a hash of ${hash.length} bytes`);
  bytes.set(hash, at);
}
