/**
 * How a batch lies in a segment. Little-endian, a multiple of eight bytes:
 *
 *      0  u32  magic "PGB1"
 *      4  u32  length of the whole batch, header and padding included
 *      8  u32  checksum: CRC32C of bytes 12 … length, seeded by log id and segment number
 *     12  u32  checksum of the batch before it: the chain
 *     16  u32  segment number, the epoch: bytes left from another segment never pass
 *     20  u32  offset in the segment at which its commit (one write, one sync) began
 *     24  u64  batch id: counter
 *     32  u32  batch id: writer
 *     36  u32  number of records
 *     40  per record: u32 length, then its bytes; zeros up to the multiple of eight
 *
 * The appending side fills in all but bytes 8 … 24, which the committing side stamps when it knows
 * the place. A batch can be checked alone (its checksum) and in its place (the chain), and that is
 * what tells a torn tail from damage: see log-tail.ts. The seed is secret to whoever writes the
 * records, so a record cannot pass itself off as a batch.
 */

import { crc32c } from "./crc32c.js";
import type { Batch, BatchId, LogPosition } from "./journal.js";
import { readU53, writeU53 } from "./u53.js";

export const BATCH_HEADER_BYTES = 40;
export const BATCH_MAGIC = 0x31424750;

const CHECKSUM_FROM = 12;

export function encodedBytes(records: readonly Uint8Array[]): number {
  let bytes = BATCH_HEADER_BYTES + 4 * records.length;
  for (const record of records) bytes += record.length;
  return (bytes + 7) & ~7;
}

/** Writes a batch of `length` = `encodedBytes(records)` at `at`, not yet stamped. */
export function encodeBatch(
  into: Buffer,
  at: number,
  length: number,
  id: BatchId,
  records: readonly Uint8Array[],
): void {
  into.writeUInt32LE(BATCH_MAGIC, at);
  into.writeUInt32LE(length, at + 4);
  writeU53(into, at + 24, id.counter);
  into.writeUInt32LE(id.writer, at + 32);
  into.writeUInt32LE(records.length, at + 36);
  let next = at + BATCH_HEADER_BYTES;
  for (const record of records) {
    into.writeUInt32LE(record.length, next);
    into.set(record, next + 4);
    next += 4 + record.length;
  }
  into.fill(0, next, at + length);
}

export interface BatchPlace {
  readonly previous: number;
  readonly segment: number;
  readonly commitStart: number;
  readonly seed: number;
}

/** Gives an encoded batch its place in the log; returns its checksum, the next batch's link. */
export function stampBatch(bytes: Buffer, at: number, place: BatchPlace): number {
  bytes.writeUInt32LE(place.previous, at + 12);
  bytes.writeUInt32LE(place.segment, at + 16);
  bytes.writeUInt32LE(place.commitStart, at + 20);
  const checksum = batchChecksum(bytes, at, batchLength(bytes, at), place.seed);
  bytes.writeUInt32LE(checksum, at + 8);
  return checksum;
}

export const batchLength = (bytes: Buffer, at: number): number => bytes.readUInt32LE(at + 4);
export const batchStoredChecksum = (bytes: Buffer, at: number): number =>
  bytes.readUInt32LE(at + 8);
export const batchPrevious = (bytes: Buffer, at: number): number => bytes.readUInt32LE(at + 12);
export const batchSegment = (bytes: Buffer, at: number): number => bytes.readUInt32LE(at + 16);
export const batchCommitStart = (bytes: Buffer, at: number): number => bytes.readUInt32LE(at + 20);
export const batchRecordCount = (bytes: Buffer, at: number): number => bytes.readUInt32LE(at + 36);

export function batchChecksum(bytes: Buffer, at: number, length: number, seed: number): number {
  return crc32c(bytes.subarray(at + CHECKSUM_FROM, at + length), seed);
}

/** A length that a batch may claim; only then is its checksum worth computing. */
export function isBatchLength(length: number, limit: number): boolean {
  return length >= BATCH_HEADER_BYTES && length <= limit && (length & 7) === 0;
}

/**
 * The batch at `at`, whose checksum has passed; its records are views, not copies. Undefined if
 * its records do not fill it exactly, which a checksum that passed all but excludes.
 */
export function decodeBatch(bytes: Buffer, at: number, position: LogPosition): Batch | undefined {
  const end = at + batchLength(bytes, at);
  const count = batchRecordCount(bytes, at);
  const id = { writer: bytes.readUInt32LE(at + 32), counter: readU53(bytes, at + 24) };
  const records: Uint8Array[] = [];
  let next = at + BATCH_HEADER_BYTES;
  for (let index = 0; index < count; index++) {
    if (next + 4 > end) return undefined;
    const from = next + 4;
    next = from + bytes.readUInt32LE(next);
    if (next > end) return undefined;
    records.push(bytes.subarray(from, next));
  }
  return end - next < 8 ? { id, position, records } : undefined;
}
