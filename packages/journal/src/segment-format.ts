/**
 * Header and file name of a segment. Little-endian, 64 bytes:
 *
 *      0  u32  magic "PGJ1"
 *      4  u32  version, 1
 *      8  16 bytes  log id, random, the same in every segment and snapshot of a log
 *     24  u32  segment number, the one in the file name
 *     28  u32  zero
 *     32  u64  batches before this segment
 *     40  u64  records before this segment
 *     48  u32  checksum of the last batch before this segment; 0 if there is none
 *     52  8 bytes  zero
 *     60  u32  CRC32C of bytes 0 … 60
 *
 * A segment is created in advance as a file of zeros under its final name; its first commit writes
 * header and batches together. Only the first segment of a log gets its header when it is created,
 * so the oldest segment always has one.
 */

import { join } from "node:path";
import { crc32c } from "./crc32c.js";
import type { LogSeq } from "./log-seq.js";
import { readU53, writeU53 } from "./u53.js";

export const SEGMENT_HEADER_BYTES = 64;
export const LOG_ID_BYTES = 16;

const MAGIC = 0x314a4750;
const VERSION = 1;
const NAME = /^(\d{10})\.log$/;

export interface SegmentHeader {
  readonly logId: Uint8Array;
  readonly number: number;
  readonly first: LogSeq;
  readonly previous: number;
}

export function encodeSegmentHeader(header: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  bytes.writeUInt32LE(MAGIC, 0);
  bytes.writeUInt32LE(VERSION, 4);
  bytes.set(header.logId, 8);
  bytes.writeUInt32LE(header.number, 24);
  writeU53(bytes, 32, header.first.batch);
  writeU53(bytes, 40, header.first.record);
  bytes.writeUInt32LE(header.previous, 48);
  bytes.writeUInt32LE(crc32c(bytes.subarray(0, 60)), 60);
  return bytes;
}

/** The header, or undefined if these bytes are not one. */
export function decodeSegmentHeader(bytes: Buffer): SegmentHeader | undefined {
  if (bytes.length < SEGMENT_HEADER_BYTES) return undefined;
  if (bytes.readUInt32LE(0) !== MAGIC || bytes.readUInt32LE(4) !== VERSION) return undefined;
  if (bytes.readUInt32LE(60) !== crc32c(bytes.subarray(0, 60))) return undefined;
  return {
    logId: bytes.subarray(8, 8 + LOG_ID_BYTES),
    number: bytes.readUInt32LE(24),
    first: { batch: readU53(bytes, 32), record: readU53(bytes, 40) },
    previous: bytes.readUInt32LE(48),
  };
}

/**
 * A message if these bytes begin a segment of an unknown format. A partial header of the known
 * format, left by a write that was cut short, is not one.
 */
export function segmentVersionFault(bytes: Buffer): { at: number; reason: string } | undefined {
  if (bytes.length < 8 || bytes.toString("latin1", 0, 3) !== "PGJ") return undefined;
  const magic = bytes.readUInt32LE(0);
  if (magic !== MAGIC && bytes[3] !== 0) {
    const name = bytes.toString("latin1", 0, 4);
    return { at: 0, reason: `the segment has format ${name}; this release reads PGJ1` };
  }
  const version = bytes.readUInt32LE(4);
  if (version === VERSION || version === 0) return undefined;
  const reason = `the segment has format version ${version}; this release reads ${VERSION}`;
  return { at: 4, reason };
}

/** Seed of the checksums of a segment's batches. */
export function segmentSeed(logId: Uint8Array, number: number): number {
  const bytes = Buffer.alloc(LOG_ID_BYTES + 4);
  bytes.set(logId, 0);
  bytes.writeUInt32LE(number, LOG_ID_BYTES);
  return crc32c(bytes);
}

export function segmentPath(directory: string, number: number): string {
  return join(directory, `${String(number).padStart(10, "0")}.log`);
}

/** The number in a segment's file name, or undefined for other files. */
export function segmentNumber(name: string): number | undefined {
  const match = NAME.exec(name);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}
