/**
 * Format of a batch in a segment. Little-endian, a multiple of eight bytes:
 *
 *      0  u32  magic "PGB2"
 *      4  u32  length of the whole batch, header and padding included
 *      8  u32  checksum: CRC32C of bytes 12 … length, seeded by log id and segment number
 *     12  u32  checksum of the batch before it: the chain
 *     16  u32  segment number, the epoch: bytes left from another segment never pass
 *     20  u32  offset in the segment at which its commit (one write, one sync) began
 *     24  u64  batch id: counter
 *     32       batch id: writer, 16 bytes
 *     48  u32  number of records
 *     52  u32  zero
 *     56  per record: u32 length, then its bytes; zeros up to the multiple of eight
 *
 * The appending thread writes all but bytes 8 … 24; the committing thread writes those when it knows
 * the batch's place. A batch can be checked alone (its checksum) and in its place (the chain), which
 * is how log-tail.ts tells a torn tail from damage. The authors of records do not know the seed, so
 * they cannot make a record that passes for a batch.
 */

import { crc32c } from "./crc32c.js";
import type { Batch, BatchId, LogSeq } from "./journal.js";

export const BATCH_HEADER_BYTES = 56;
export const BATCH_MAGIC = 0x32424750;

const CHECKSUM_FROM = 12;
const WRITER_AT = 32;
const WRITER_BYTES = 16;

export function encodedBytes(records: readonly Uint8Array[]): number {
  let bytes = BATCH_HEADER_BYTES + 4 * records.length;
  for (const record of records) bytes += record.length;
  return (bytes + 7) & ~7;
}

/** Writes a batch of `length` = `encodedBytes(records)` at `at`, not yet stamped. */
export function encodeBatch(
  into: DataView,
  at: number,
  length: number,
  id: BatchId,
  records: readonly Uint8Array[],
): void {
  into.setUint32(at, BATCH_MAGIC, true);
  into.setUint32(at + 4, length, true);
  into.setUint32(at + 24, id.counter >>> 0, true);
  into.setUint32(at + 28, Math.floor(id.counter / 2 ** 32), true);
  const bytes = Buffer.from(into.buffer, into.byteOffset + at, length);
  bytes.write(id.writer, WRITER_AT, WRITER_BYTES, "hex");
  into.setUint32(at + 48, records.length, true);
  into.setUint32(at + 52, 0, true);
  let next = BATCH_HEADER_BYTES;
  for (const record of records) {
    into.setUint32(at + next, record.length, true);
    bytes.set(record, next + 4);
    next += 4 + record.length;
  }
  bytes.fill(0, next);
}

interface BatchPlace {
  readonly previous: number;
  readonly segment: number;
  readonly commitStart: number;
  readonly seed: number;
}

/** Writes an encoded batch's place and checksum; returns the checksum, which the next batch chains to. */
export function stampBatch(view: DataView, at: number, place: BatchPlace): number {
  view.setUint32(at + 12, place.previous, true);
  view.setUint32(at + 16, place.segment, true);
  view.setUint32(at + 20, place.commitStart, true);
  const checksum = batchChecksum(view, at, batchLength(view, at), place.seed);
  view.setUint32(at + 8, checksum, true);
  return checksum;
}

export const batchMagic = (view: DataView, at: number): number => view.getUint32(at, true);

/** A message if these bytes begin a batch of an unknown format. */
export function batchVersionFault(bytes: Buffer): string | undefined {
  const isOurs = bytes.length >= 4 && bytes.toString("latin1", 0, 3) === "PGB";
  // A zero byte is left by a write that was cut short.
  if (!isOurs || bytes[3] === 0 || bytes.readUInt32LE(0) === BATCH_MAGIC) return undefined;
  return `a batch of format ${bytes.toString("latin1", 0, 4)}; this release reads PGB2`;
}

export const batchLength = (view: DataView, at: number): number => view.getUint32(at + 4, true);
export const batchStoredChecksum = (view: DataView, at: number): number =>
  view.getUint32(at + 8, true);
export const batchPrevious = (view: DataView, at: number): number => view.getUint32(at + 12, true);
export const batchSegment = (view: DataView, at: number): number => view.getUint32(at + 16, true);
export const batchCommitStart = (view: DataView, at: number): number =>
  view.getUint32(at + 20, true);
export const batchRecordCount = (view: DataView, at: number): number =>
  view.getUint32(at + 48, true);

export function batchChecksum(view: DataView, at: number, length: number, seed: number): number {
  const from = view.byteOffset + at + CHECKSUM_FROM;
  return crc32c(new Uint8Array(view.buffer, from, length - CHECKSUM_FROM), seed);
}

/** Whether a batch may have this length; checked before its checksum is computed. */
export function isBatchLength(length: number, limit: number): boolean {
  return length >= BATCH_HEADER_BYTES && length <= limit && (length & 7) === 0;
}

/**
 * Decodes the batch at `at`, whose checksum is valid; its records are views, not copies. Undefined
 * if its records do not fill it exactly, which a valid checksum makes very unlikely.
 */
export function decodeBatch(view: DataView, at: number, seq: LogSeq): Batch | undefined {
  const end = at + batchLength(view, at);
  const count = batchRecordCount(view, at);
  const counter = view.getUint32(at + 28, true) * 2 ** 32 + view.getUint32(at + 24, true);
  const writer = Buffer.from(view.buffer, view.byteOffset + at + WRITER_AT, WRITER_BYTES);
  const id = { writer: writer.toString("hex"), counter };
  const records: Uint8Array[] = [];
  let next = at + BATCH_HEADER_BYTES;
  for (let index = 0; index < count; index++) {
    if (next + 4 > end) return undefined;
    const length = view.getUint32(next, true);
    next += 4;
    if (next + length > end) return undefined;
    records.push(new Uint8Array(view.buffer, view.byteOffset + next, length));
    next += length;
  }
  if (end - next >= 8) return undefined;
  return { id, seq, end: { batch: seq.batch + 1, record: seq.record + count }, records };
}
