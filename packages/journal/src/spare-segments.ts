/**
 * Segments created in advance: files of zeros whose blocks are allocated.
 *
 * Zeros are written, not just reserved, so that a commit changes data only and its fdatasync writes
 * no metadata. The file gets its final name only when it is complete and durable, so every segment
 * has its room on disk: a full disk is noticed here, not in the middle of a commit. A crash leaves a
 * file under the temporary name, which the next open removes.
 *
 * If the disk was full when a segment was prepared, `take` tries once more. No other failure is
 * retried.
 */

import { type Disk, isNoRoom, makeWhole, refuseToFill, writeFully, writeZeros } from "./disk.js";
import { segmentPath } from "./segment-format.js";

export const UNFINISHED_SUFFIX = ".new";

export interface SpareSegments {
  /** Starts the creation of the segment, without waiting for it. */
  prepare(number: number): void;
  /** Waits until the prepared segment exists; throws if it could not be created. */
  take(number: number): void;
}

/** Creates a segment; the first of a log gets its `header` here. */
export function allocateSegment(
  disk: Disk,
  directory: string,
  number: number,
  segmentBytes: number,
  header?: Uint8Array,
): void {
  const path = segmentPath(directory, number);
  const unfinished = path + UNFINISHED_SUFFIX;
  refuseToFill(disk, directory, segmentBytes);
  makeWhole(disk, unfinished, path, () => {
    const file = disk.open(unfinished, "create");
    try {
      writeZeros(file, 0, segmentBytes);
      if (header !== undefined) {
        writeFully(file, header, 0);
        file.sync();
      }
    } finally {
      file.close();
    }
  });
  disk.syncDirectory(directory);
}

/** Creates each segment synchronously, in the committing thread. */
export class InlineSpareSegments implements SpareSegments {
  private failure: { readonly reason: unknown } | undefined;

  constructor(
    private readonly disk: Disk,
    private readonly directory: string,
    private readonly segmentBytes: number,
  ) {}

  /** A failure is thrown by `take`: until then the current segment still has room. */
  prepare(number: number): void {
    try {
      this.allocate(number);
    } catch (reason) {
      this.failure = { reason };
    }
  }

  take(number: number): void {
    const failure = this.failure;
    if (failure === undefined) return;
    if (!isNoRoom(failure.reason)) throw failure.reason;
    this.failure = undefined;
    this.allocate(number);
  }

  private allocate(number: number): void {
    allocateSegment(this.disk, this.directory, number, this.segmentBytes);
  }
}
