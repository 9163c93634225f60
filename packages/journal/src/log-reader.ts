/**
 * Reads batches from the segment files up to a bound that the caller knows to be durable. The files
 * may contain later batches that are written but not synced, and must not be shown.
 *
 * A mirror of a replicated log stores messages (mirrored.ts): the reader returns the batches in them.
 *
 * For recovery, for readers that start late, for a replica in another thread, and for auditors.
 * Checks every batch; a missing batch below the bound is damage.
 */

import { type Disk, type DiskFile, isNotThere } from "./disk.js";
import { JournalDamaged, SeqUnavailable } from "./errors.js";
import type { Batch, LogSeq } from "./journal.js";
import { listSegments, readSegment, type SegmentFile } from "./log-state.js";
import { MIRROR_WRITER, unwrapMirrored } from "./mirrored.js";
import { SegmentCursor } from "./segment-cursor.js";

export class SegmentReader {
  private file: DiskFile | undefined;
  private path = "";
  private cursor: SegmentCursor | undefined;

  constructor(
    private readonly disk: Disk,
    private readonly directory: string,
    private from: LogSeq,
  ) {}

  /** Index of the batch that `next` returns next. */
  get seq(): LogSeq {
    return this.from;
  }

  /** Where the batch that `next` returned last ends; undefined before the first. */
  get place(): { readonly segment: number; readonly offset: number } | undefined {
    const { cursor } = this;
    return cursor && { segment: cursor.header.number, offset: cursor.offset };
  }

  /** The next batch below batch number `until`, the durable end; undefined when there is none. */
  next(until: number): Batch | undefined {
    const stored = this.nextStored(until);
    if (stored === undefined || stored.id.writer !== MIRROR_WRITER) return stored;
    const original = unwrapMirrored(stored);
    if (original === undefined) {
      const offset = this.cursor?.offset ?? 0;
      throw new JournalDamaged(this.path, offset, "the record is no mirrored message");
    }
    return original;
  }

  /** As `next`, but a mirrored message as it is stored. */
  nextStored(until: number): Batch | undefined {
    if (this.from.batch >= until) return undefined;
    const cursor = this.advance();
    const batch = cursor.decode();
    if (batch === undefined) {
      throw new JournalDamaged(this.path, cursor.offset, "the records do not fill the batch");
    }
    this.from = { batch: cursor.batch, record: cursor.record };
    return batch;
  }

  close(): void {
    this.file?.close();
    this.file = undefined;
    this.cursor = undefined;
  }

  /** Moves past the next batch, which is known to be in the log. */
  private advance(): SegmentCursor {
    let cursor = this.cursor ?? this.seek();
    if (cursor.advance()) return cursor;
    cursor.refresh();
    if (cursor.advance()) return cursor;
    cursor = this.openNext(cursor);
    if (cursor.advance()) return cursor;
    throw new JournalDamaged(this.path, cursor.offset, "a durable batch is missing");
  }

  /** Opens the segment that contains `from` and moves to it. */
  private seek(): SegmentCursor {
    const from = this.from;
    const segments = listSegments(this.disk, this.directory);
    const segment = segments.findLast(
      ({ header }) => (header?.first.batch ?? Infinity) <= from.batch,
    );
    if (segment === undefined) throw new SeqUnavailable(from, "the log begins later");
    const cursor = this.open(segment);
    while (cursor.batch < from.batch) {
      if (!cursor.advance()) {
        throw new JournalDamaged(segment.path, cursor.offset, "a durable batch is missing");
      }
    }
    if (cursor.record !== from.record) {
      throw new SeqUnavailable(from, `${cursor.record} records precede that batch`);
    }
    return cursor;
  }

  /** Opens the next segment, which must exist and continue this one. */
  private openNext(ended: SegmentCursor): SegmentCursor {
    const next = this.readNext(ended.header.number + 1);
    const continues =
      next?.header?.previous === ended.previous && next.header.first.batch === ended.batch;
    if (next === undefined || !continues) {
      throw new JournalDamaged(this.path, ended.offset, "a durable batch is missing");
    }
    return this.open(next);
  }

  private readNext(number: number): SegmentFile | undefined {
    try {
      return readSegment(this.disk, this.directory, number);
    } catch (error) {
      if (isNotThere(error)) return undefined;
      throw error;
    }
  }

  private open({ path, header }: SegmentFile): SegmentCursor {
    if (header === undefined) throw new JournalDamaged(path, 0, "the segment header is not valid");
    this.close();
    this.path = path;
    this.file = this.disk.open(path, "read");
    this.cursor = new SegmentCursor(this.file, header);
    return this.cursor;
  }
}
