/**
 * Segments made ahead of need: files of zeros whose blocks the disk has already given.
 *
 * Zeros are written, not just reserved, so that a commit changes data alone and its fdatasync
 * waits for no metadata. The file gets its final name only when it is whole and durable, so a
 * segment that has its name has its room: a full disk shows here, not in the middle of a commit.
 * A crash leaves a file under the temporary name, which the next open removes.
 *
 * A disk that had no room when a segment was prepared may have some when it is needed: it is then
 * made once more. Nothing else is tried twice.
 */

import { type Disk, isNoRoom, makeWhole, writeFully, writeZeros } from "./disk.js";
import { segmentPath } from "./segment-format.js";

export const UNFINISHED_SUFFIX = ".new";

export interface SpareSegments {
  /** Has the segment made, without waiting for it. */
  prepare(number: number): void;
  /** Waits until the prepared segment is in place; throws whatever kept it from being made. */
  take(number: number): void;
}

/** Makes a segment, with `header` at its beginning if it is the first of its log. */
export function allocateSegment(
  disk: Disk,
  directory: string,
  number: number,
  segmentBytes: number,
  header?: Uint8Array,
): void {
  const path = segmentPath(directory, number);
  const unfinished = path + UNFINISHED_SUFFIX;
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

/** Makes each segment on the spot, in the thread that commits. */
export class InlineSpareSegments implements SpareSegments {
  private failure: { readonly reason: unknown } | undefined;

  constructor(
    private readonly disk: Disk,
    private readonly directory: string,
    private readonly segmentBytes: number,
  ) {}

  /** A failure is kept for `take`: the segment in use has room of its own until then. */
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
