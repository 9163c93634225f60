/**
 * Commits runs of encoded batches, in this order: write each batch's place and checksum into it,
 * write the run to the segment with one write, make it durable with one fdatasync, report it. When a
 * segment is full it continues in the next, which exists already or is completed then. It never overwrites a synced byte
 * and never starts a write before the previous sync has returned; recovery relies on both.
 *
 * Any exception here ends the journal: after a failed sync the kernel may have dropped the pages and
 * marked them clean, so a second sync would succeed without writing them. A crash at any point leaves
 * at most one incomplete commit, the last.
 */

import { batchLength, batchRecordCount, stampBatch } from "./batch-format.js";
import type { Run } from "./commit-ring.js";
import type { Disk, DiskFile } from "./disk.js";
import { writeFully } from "./disk.js";
import type { LogSeq } from "./journal.js";
import {
  encodeSegmentHeader,
  SEGMENT_HEADER_BYTES,
  segmentPath,
  segmentSeed,
} from "./segment-format.js";
import type { SpareSegments } from "./spare-segments.js";

/** Where the next batch goes. Plain data: it is passed to the committing thread. */
export interface WriterState {
  readonly directory: string;
  readonly logId: Uint8Array;
  readonly segment: number;
  readonly offset: number;
  /** Checksum of the last batch. */
  readonly previous: number;
  readonly seq: LogSeq;
  /** Whether the next segment exists already. */
  readonly spareReady: boolean;
}

export class SegmentWriter {
  private readonly directory: string;
  private readonly logId: Uint8Array;
  private readonly onDurable: (bytes: number, batches: number) => void;
  private file: DiskFile;
  private size: number;
  private segment: number;
  private seed: number;
  private offset: number;
  private previous: number;
  private batch: number;
  private record: number;
  /** Set if the next commit is the first of its segment: it writes this header too. */
  private header: Buffer | undefined;

  constructor(
    private readonly disk: Disk,
    state: WriterState,
    private readonly spares: SpareSegments,
    onDurable: (bytes: number, batches: number) => void,
  ) {
    this.directory = state.directory;
    this.logId = state.logId;
    this.onDurable = onDurable;
    this.segment = state.segment;
    this.seed = segmentSeed(state.logId, state.segment);
    this.offset = state.offset;
    this.previous = state.previous;
    this.batch = state.seq.batch;
    this.record = state.seq.record;
    this.file = disk.open(segmentPath(state.directory, state.segment), "write");
    this.size = this.file.size();
    if (!state.spareReady) spares.prepare(state.segment + 1);
  }

  /** Makes the batches of a run durable, in one commit per segment that they touch. */
  commit({ view, start, end }: Run): void {
    let from = start;
    while (from < end) {
      const length = batchLength(view, from);
      if (this.offset + length > this.size) this.rotate();
      if (this.offset + length > this.size) {
        throw new Error(`a batch of ${length} bytes does not fit a segment of ${this.size}`);
      }
      from = this.commitWhatFits(view, from, end);
    }
  }

  close(): void {
    this.spares.close();
    this.file.close();
  }

  private commitWhatFits(view: DataView, from: number, end: number): number {
    const header = this.header;
    const commitStart = header === undefined ? this.offset : 0;
    const place = {
      previous: this.previous,
      segment: this.segment,
      commitStart,
      seed: this.seed,
    };
    let to = from;
    let batches = 0;
    let records = 0;
    while (to < end) {
      const length = batchLength(view, to);
      if (this.offset + (to - from) + length > this.size) break;
      place.previous = stampBatch(view, to, place);
      records += batchRecordCount(view, to);
      batches += 1;
      to += length;
    }
    if (header !== undefined) writeFully(this.file, header, 0);
    const bytes = new Uint8Array(view.buffer, view.byteOffset + from, to - from);
    writeFully(this.file, bytes, this.offset);
    this.file.sync();
    this.offset += to - from;
    this.previous = place.previous;
    this.batch += batches;
    this.record += records;
    this.header = undefined;
    this.onDurable(to - from, batches);
    if (header !== undefined) this.spares.prepare(this.segment + 1);
    this.spares.keepUp(this.offset);
    return to;
  }

  private rotate(): void {
    const next = this.segment + 1;
    this.spares.take();
    const file = this.disk.open(segmentPath(this.directory, next), "write");
    this.file.close();
    this.file = file;
    this.size = file.size();
    this.segment = next;
    this.seed = segmentSeed(this.logId, next);
    this.offset = SEGMENT_HEADER_BYTES;
    this.header = encodeSegmentHeader({
      logId: this.logId,
      number: next,
      first: { batch: this.batch, record: this.record },
      previous: this.previous,
    });
  }
}
