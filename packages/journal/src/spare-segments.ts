/**
 * Segments created in advance: files of zeros whose blocks are allocated.
 *
 * Zeros are written, not just reserved, so that a commit changes data only and its fdatasync writes
 * no metadata. The file gets its final name only when it is complete and durable, so every segment
 * has its room on disk: a full disk is noticed here, not in the middle of a commit. A crash leaves a
 * file under the temporary name, which the next open removes.
 *
 * The thread that commits also makes the next segment, piece by piece: while there is nothing to
 * commit, and under load as many as keep the next segment twice as far as the current one
 * is full. So a commit waits for one piece at most, and a rotation for none.
 *
 * If the disk is full it tries again, after a pause that doubles, and once more when the segment is
 * needed. No other failure is retried. A failure matters only once the segment is needed.
 */

import {
  type Disk,
  discard,
  isNoRoom,
  refuseToFill,
  type Steps,
  toEnd,
  writeFully,
  zeroSteps,
} from "./disk.js";
import { segmentPath } from "./segment-format.js";

export const UNFINISHED_SUFFIX = ".new";

/** What a commit may have to wait for: with its sync about 2 ms on an ordinary disk. */
const PIECE_BYTES = 256 * 1024;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** Creates a segment; the first of a log gets its `header` here. */
export function allocateSegment(
  disk: Disk,
  directory: string,
  number: number,
  segmentBytes: number,
  header?: Uint8Array,
): void {
  toEnd(segmentSteps(disk, directory, number, { segmentBytes, header }));
}

interface NewSegment {
  readonly segmentBytes: number;
  readonly header?: Uint8Array | undefined;
  readonly pieceBytes?: number;
}

/** A step per piece, each synced. If it is ended early it removes what it has written. */
function* segmentSteps(
  disk: Disk,
  directory: string,
  number: number,
  { segmentBytes, header, pieceBytes }: NewSegment,
): Steps<void> {
  const path = segmentPath(directory, number);
  const unfinished = path + UNFINISHED_SUFFIX;
  refuseToFill(disk, directory, segmentBytes);
  let isWhole = false;
  try {
    const file = disk.open(unfinished, "create");
    try {
      yield* zeroSteps(file, 0, segmentBytes, pieceBytes);
      if (header !== undefined) {
        writeFully(file, header, 0);
        file.sync();
      }
    } finally {
      file.close();
    }
    disk.rename(unfinished, path);
    isWhole = true;
  } finally {
    if (!isWhole) discard(disk, unfinished);
  }
  disk.syncDirectory(directory);
}

/** The next segment of a log, made by the thread that commits. */
export class SpareSegments {
  /** The segment asked for that does not exist yet. */
  private wanted: number | undefined;
  private making: Steps<void> | undefined;
  private madeBytes = 0;
  private failure: { readonly reason: unknown } | undefined;
  private pauseMs = FIRST_PAUSE_MS;
  private retryAt = 0;

  constructor(
    private readonly disk: Disk,
    private readonly directory: string,
    private readonly segmentBytes: number,
    private readonly attempted: (failure: Error | undefined) => void = () => undefined,
  ) {}

  /** From now on `step` makes this segment. */
  prepare(number: number): void {
    this.wanted = number;
    this.pauseMs = FIRST_PAUSE_MS;
    this.begin(number);
  }

  /** Makes as many pieces as are due when the current segment holds that many bytes. */
  keepUp(usedBytes: number): void {
    while (this.dueInMs() === 0 && this.madeBytes < 2 * usedBytes) this.step();
  }

  /** Milliseconds until `step` has something to do. */
  dueInMs(): number {
    if (this.wanted === undefined) return Number.POSITIVE_INFINITY;
    if (this.making !== undefined) return 0;
    return Math.max(0, this.retryAt - performance.now());
  }

  /** Makes one piece. */
  step(): void {
    if (this.wanted === undefined) return;
    const making = this.making ?? this.begin(this.wanted);
    try {
      const { done } = making.next();
      this.madeBytes += PIECE_BYTES;
      if (done !== true) return;
      this.making = undefined;
      this.wanted = undefined;
      this.attempted(undefined);
    } catch (reason) {
      this.making = undefined;
      this.failure = { reason };
      this.retryAt = isNoRoom(reason) ? performance.now() + this.pauseMs : Number.POSITIVE_INFINITY;
      this.pauseMs = Math.min(2 * this.pauseMs, LONGEST_PAUSE_MS);
      this.attempted(reason instanceof Error ? reason : new Error(String(reason)));
    }
  }

  /** Makes what is missing of the prepared segment; throws if it cannot be created. */
  take(): void {
    while (this.making !== undefined) this.step();
    if (this.failure !== undefined && isNoRoom(this.failure.reason)) {
      do this.step();
      while (this.making !== undefined);
    }
    if (this.failure !== undefined) throw this.failure.reason;
  }

  close(): void {
    this.making?.return();
  }

  private begin(number: number): Steps<void> {
    this.failure = undefined;
    this.madeBytes = 0;
    this.making = segmentSteps(this.disk, this.directory, number, {
      segmentBytes: this.segmentBytes,
      pieceBytes: PIECE_BYTES,
    });
    return this.making;
  }
}
