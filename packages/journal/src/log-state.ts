/**
 * Looks through a log on disk and says what it holds and how it ends, changing nothing.
 *
 * Comes in: a directory. Goes out: the log's id, its bounds, where the next batch would go, and
 * what a torn commit left. Throws `JournalDamaged` for anything that no crash of ours can leave.
 * It needs no lock; while a writer is at work the answer is a moment's truth.
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
  /** The segment that the next batch goes to, where in it, and the link it must carry. */
  readonly segment: number;
  readonly offset: number;
  readonly previous: number;
  /** Where the last commit in that segment began: the only one that may not be durable yet. */
  readonly lastCommitStart: number;
  /** Whether a further segment, not yet begun, is in place. */
  readonly spareReady: boolean;
  /** What was written in part. */
  readonly torn: readonly TornTail[];
}

export interface SegmentFile {
  readonly number: number;
  readonly path: string;
  /** Undefined if the segment is not begun. */
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

/**
 * `tail` looks at the batches of the last segment only, and at the headers of the others; whoever
 * reads the log later has the rest checked on the way.
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
      // Beside a live venue a segment may have been begun, and written to, after its header was
      // asked for: it then seems to hold batches that nothing leads to. Or the oldest was given up.
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
  // A spare is made only after the first commit of the segment before it is synced.
  if (spares[0] !== undefined && spares.length > 1) {
    throw new JournalDamaged(spares[0].path, 0, "a later segment is in place; this one was begun");
  }
  const tornHere = torn[0];
  for (const { path, number } of spares) {
    withFile(disk, path, (file) => checkUnbegun(file, path, oldest.header.logId, number, torn));
  }
  // A segment is begun only when the one before it is synced to its end.
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

/** Goes through a segment's batches and judges what follows the last. */
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
      // A live venue may have appended between the two looks: then the chain goes on.
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

/** A segment without a header may hold part of its first commit, and nothing of a later one. */
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
