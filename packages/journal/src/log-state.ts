/**
 * Inspects a log on disk without changing it: its id, its bounds, where the next batch goes, and
 * what a torn commit left. Throws `JournalDamaged` for anything that a crash of the writer cannot
 * leave. Needs no lock; while a writer is active the result may be outdated when it returns.
 */

import { basename } from "node:path";
import { type Disk, type DiskFile, isNotThere, readUpTo } from "./disk.js";
import { JournalDamaged } from "./errors.js";
import { firstNonZero } from "./file-window.js";
import type { LogSeq } from "./journal.js";
import { judgeTail } from "./log-tail.js";
import { SegmentCursor } from "./segment-cursor.js";
import {
  decodeSegmentHeader,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
  segmentNumber,
  segmentPath,
  segmentVersionFault,
} from "./segment-format.js";

export interface TornTail {
  readonly file: string;
  readonly offset: number;
  /** Up to the last byte that is not zero. */
  readonly bytes: number;
}

export interface LogState {
  readonly logId: Uint8Array;
  readonly first: LogSeq;
  readonly end: LogSeq;
  /** Where the next batch goes: segment, offset in it, and the checksum to chain to. */
  readonly segment: number;
  readonly offset: number;
  readonly previous: number;
  /** Where the last commit in that segment began: the only one that may not be durable yet. */
  readonly lastCommitStart: number;
  /** Whether the next segment exists already, unused. */
  readonly spareReady: boolean;
  /** Incomplete commits. */
  readonly torn: readonly TornTail[];
}

export interface SegmentFile {
  readonly number: number;
  readonly path: string;
  /** Undefined if nothing was committed to the segment yet. */
  readonly header: SegmentHeader | undefined;
}

export function readSegment(disk: Disk, directory: string, number: number): SegmentFile {
  const path = segmentPath(directory, number);
  const bytes = withFile(disk, path, (file) => readUpTo(file, 0, SEGMENT_HEADER_BYTES));
  const fault = segmentVersionFault(bytes);
  if (fault !== undefined) throw new JournalDamaged(path, fault.at, fault.reason);
  return { number, path, header: decodeSegmentHeader(bytes) };
}

/** The log's segments, oldest first, without a gap; the oldest has a header. */
export function listSegments(disk: Disk, directory: string): SegmentFile[] {
  const numbers = disk.list(directory).flatMap((name) => segmentNumber(name) ?? []);
  numbers.sort((a, b) => a - b);
  const segments = numbers.map((number, index) => {
    const expected = (numbers[0] ?? 0) + index;
    if (number !== expected) {
      throw new JournalDamaged(segmentPath(directory, expected), 0, "the segment is missing");
    }
    return readSegment(disk, directory, number);
  });
  checkHeaders(segments);
  return segments;
}

/** The letters that the log's first batch begins with, which name its format; undefined without one. */
export function batchFormatOf(disk: Disk, directory: string): string | undefined {
  const numbers = disk.list(directory).flatMap((name) => segmentNumber(name) ?? []);
  if (numbers.length === 0) return undefined;
  const path = segmentPath(directory, Math.min(...numbers));
  const letters = withFile(disk, path, (file) => readUpTo(file, SEGMENT_HEADER_BYTES, 4));
  return letters.length < 4 || letters[0] === 0 ? undefined : letters.toString("latin1");
}

/**
 * `tail` checks the batches of the last segment only, and the headers of the others; readers check
 * the other batches when they read them.
 */
export function inspectLog(
  disk: Disk,
  directory: string,
  extent: "all" | "tail" = "all",
): LogState | undefined {
  for (;;) {
    const bounds = boundsOf(disk, directory);
    try {
      return look(disk, directory, extent);
    } catch (error) {
      // While a venue runs, a segment may have been started after its header was read here, and then
      // seems to contain batches without a header. Or the oldest segment was pruned. If the bounds
      // changed meanwhile, inspect again.
      const mayHaveMoved = error instanceof JournalDamaged || isNotThere(error);
      if (!mayHaveMoved || boundsOf(disk, directory) === bounds) throw error;
    }
  }
}

/** The oldest segment, and the newest that has a header. */
function boundsOf(disk: Disk, directory: string): string {
  const numbers = disk.list(directory).flatMap((name) => segmentNumber(name) ?? []);
  numbers.sort((a, b) => b - a);
  const begun = numbers.find((number) => readSegment(disk, directory, number).header !== undefined);
  return `${numbers.at(-1)} to ${begun}`;
}

function look(disk: Disk, directory: string, extent: "all" | "tail"): LogState | undefined {
  const segments = listSegments(disk, directory);
  const begun = segments.filter(isBegun);
  const oldest = begun[0];
  if (oldest === undefined) return undefined;
  const torn: TornTail[] = [];
  let last: SegmentCursor | undefined;
  for (let index = extent === "all" ? 0 : begun.length - 1; index < begun.length; index++) {
    const segment = begun[index];
    if (segment === undefined) continue;
    last = withFile(disk, segment.path, (file) =>
      walkSegment(file, segment, begun[index + 1]?.header, torn),
    );
  }
  const spares = segments.slice(begun.length);
  // The writer creates a spare only after the first commit of the previous segment is synced.
  if (spares[0] !== undefined && spares.length > 1) {
    throw new JournalDamaged(spares[0].path, 0, "a later segment is in place; this one was begun");
  }
  const tornHere = torn[0];
  for (const { path, number } of spares) {
    withFile(disk, path, (file) => checkUnbegun(file, path, oldest.header.logId, number, torn));
  }
  // The writer starts a segment only after every commit of the previous one is synced.
  if (tornHere !== undefined && torn.length > 1) {
    throw new JournalDamaged(tornHere.file, tornHere.offset, "the next segment was written to");
  }
  if (last === undefined) return undefined;
  return {
    logId: oldest.header.logId,
    first: oldest.header.first,
    end: { batch: last.batch, record: last.record },
    segment: last.header.number,
    offset: last.offset,
    previous: last.previous,
    lastCommitStart: last.commitStart,
    spareReady: spares.length > 0,
    torn,
  };
}

type BegunSegment = SegmentFile & { readonly header: SegmentHeader };

function isBegun(segment: SegmentFile): segment is BegunSegment {
  return segment.header !== undefined;
}

/** Reads a segment's batches and classifies the bytes after the last. */
function walkSegment(
  file: DiskFile,
  { path, header }: BegunSegment,
  next: SegmentHeader | undefined,
  torn: TornTail[],
): SegmentCursor {
  const cursor = new SegmentCursor(file, header);
  while (cursor.advance());
  if (next === undefined) {
    let tail = judgeTail(file, header.logId, header.number, cursor.offset);
    while (tail.kind === "damaged") {
      // A running venue may have appended since the cursor stopped: then the chain continues.
      cursor.refresh();
      if (!cursor.advance()) throw new JournalDamaged(path, cursor.offset, tail.reason);
      while (cursor.advance());
      tail = judgeTail(file, header.logId, header.number, cursor.offset);
    }
    if (tail.kind === "torn") torn.push({ file: path, offset: cursor.offset, bytes: tail.bytes });
    return cursor;
  }
  const { offset } = cursor;
  if (
    next.first.batch !== cursor.batch ||
    next.first.record !== cursor.record ||
    next.previous !== cursor.previous
  ) {
    throw new JournalDamaged(path, offset, "the next segment does not continue from here");
  }
  const garbage = firstNonZero(file, offset);
  if (garbage !== undefined) {
    throw new JournalDamaged(path, garbage, "the unused end of the segment is not empty");
  }
  return cursor;
}

/** A segment without a header may contain part of its first commit, and nothing of a later one. */
function checkUnbegun(
  file: DiskFile,
  path: string,
  logId: Uint8Array,
  number: number,
  torn: TornTail[],
): void {
  const tail = judgeTail(file, logId, number, 0);
  if (tail.kind === "damaged") {
    throw new JournalDamaged(path, 0, `the segment header is not valid: ${tail.reason}`);
  }
  if (tail.kind === "torn") torn.push({ file: path, offset: 0, bytes: tail.bytes });
}

function checkHeaders(segments: readonly SegmentFile[]): void {
  const oldest = segments[0];
  if (oldest === undefined) return;
  const begun = segments.findLastIndex((segment) => segment.header !== undefined);
  for (const { path, number, header } of segments.slice(0, Math.max(1, begun + 1))) {
    if (header === undefined) {
      throw new JournalDamaged(path, 0, "the segment header is not valid");
    }
    if (header.number !== number) {
      throw new JournalDamaged(path, 24, `${basename(path)} holds segment ${header.number}`);
    }
    if (Buffer.compare(header.logId, oldest.header?.logId ?? header.logId) !== 0) {
      throw new JournalDamaged(path, 8, "the segment is of another log");
    }
  }
}

function withFile<T>(disk: Disk, path: string, use: (file: DiskFile) => T): T {
  const file = disk.open(path, "read");
  try {
    return use(file);
  } finally {
    file.close();
  }
}
