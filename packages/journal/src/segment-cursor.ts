/**
 * Iterates over the batches of one segment and accepts a batch only if its checksum is valid, it has
 * the segment's number, and it contains the checksum of the batch before it.
 *
 * It stops where this chain ends. The caller decides whether that is the end of the log, a torn tail
 * or damage.
 */

import {
  BATCH_HEADER_BYTES,
  BATCH_MAGIC,
  batchChecksum,
  batchCommitStart,
  batchLength,
  batchMagic,
  batchPrevious,
  batchRecordCount,
  batchSegment,
  batchStoredChecksum,
  decodeBatch,
  isBatchLength,
} from "./batch-format.js";
import type { DiskFile } from "./disk.js";
import { FileWindow } from "./file-window.js";
import { type Batch, MAX_BATCH_BYTES } from "./journal.js";
import { SEGMENT_HEADER_BYTES, type SegmentHeader, segmentSeed } from "./segment-format.js";

export class SegmentCursor {
  private readonly window: FileWindow;
  private readonly seed: number;
  private view: DataView = new DataView(new ArrayBuffer(0));
  private at = 0;
  private records = 0;

  /** The end of the last accepted batch. */
  offset = SEGMENT_HEADER_BYTES;
  /** Its checksum. */
  previous: number;
  /** Where its commit began. */
  commitStart = 0;
  /** How many batches and records precede `offset`. */
  batch: number;
  record: number;

  constructor(
    file: DiskFile,
    readonly header: SegmentHeader,
  ) {
    this.window = new FileWindow(file);
    this.seed = segmentSeed(header.logId, header.number);
    this.previous = header.previous;
    this.batch = header.first.batch;
    this.record = header.first.record;
  }

  /** Moves past the next batch; false if there is none. */
  advance(): boolean {
    const { offset } = this;
    const length = selfValidLength(this.window, offset, this.header.number, this.seed);
    if (length === undefined) return false;
    const at = this.window.locate(offset, length);
    if (at === undefined) return false;
    const { view } = this.window;
    if (batchPrevious(view, at) !== this.previous) return false;
    this.view = view;
    this.at = at;
    this.records = batchRecordCount(view, at);
    this.offset = offset + length;
    this.previous = batchStoredChecksum(view, at);
    this.commitStart = batchCommitStart(view, at);
    this.batch += 1;
    this.record += this.records;
    return true;
  }

  /** The batch that `advance` moved past. */
  decode(): Batch | undefined {
    const seq = { batch: this.batch - 1, record: this.record - this.records };
    return decodeBatch(this.view, this.at, seq);
  }

  /** Reads the file again after the last batch: more may have been written. */
  refresh(): void {
    this.window.refresh();
  }
}

/** The length of the batch at `offset` if it is valid alone, without regard to the chain. */
export function selfValidLength(
  window: FileWindow,
  offset: number,
  segment: number,
  seed: number,
): number | undefined {
  const head = window.locate(offset, BATCH_HEADER_BYTES);
  if (head === undefined || batchMagic(window.view, head) !== BATCH_MAGIC) return undefined;
  const length = batchLength(window.view, head);
  const limit = Math.min(MAX_BATCH_BYTES, window.size - offset);
  if (!isBatchLength(length, limit) || batchSegment(window.view, head) !== segment) {
    return undefined;
  }
  const at = window.locate(offset, length);
  if (at === undefined) return undefined;
  const checksum = batchChecksum(window.view, at, length, seed);
  return checksum === batchStoredChecksum(window.view, at) ? length : undefined;
}
