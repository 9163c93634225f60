/**
 * One reading of a file journal, in three steps:
 *
 * 1. Backfill: reads batches from the files, in slices of SLICE_MS with a turn of the event loop
 *    between them, so that a late reader delays the order path by one slice at most.
 * 2. Cutover: when the files are read up to the durable end, the state becomes "live" in the same
 *    turn. Durability is reported in this thread too, so no batch can fall between.
 * 3. Live: `deliver` passes each batch on as it becomes durable.
 */

import { setImmediate } from "node:timers/promises";
import type { Disk } from "./disk.js";
import { SeqUnavailable } from "./errors.js";
import type { Batch, LogSeq, Reading } from "./journal.js";
import { SegmentReader } from "./log-reader.js";

const SLICE_MS = 5;
/** Batches between two reads of the clock. */
const CLOCK_EVERY = 64;

export class FileReading implements Reading {
  readonly live: Promise<void>;
  private next: LogSeq;
  private state: "behind" | "live" | "closed" = "behind";

  constructor(
    disk: Disk,
    directory: string,
    from: LogSeq,
    private readonly end: () => LogSeq,
    private readonly onBatch: (batch: Batch) => void,
    private readonly onClose: (reading: FileReading) => void,
  ) {
    this.next = from;
    this.live = this.catchUp(new SegmentReader(disk, directory, from));
    // A caller that does not await `live` must not cause an unhandled rejection.
    this.live.catch(() => undefined);
  }

  get seq(): LogSeq {
    return this.next;
  }

  /** Takes a batch that has just become durable. */
  deliver(batch: Batch, end: LogSeq): void {
    if (this.state !== "live") return;
    this.next = end;
    try {
      this.onBatch(batch);
    } catch (error) {
      this.close();
      // The journal must still serve the other readings and resolve the append. The error is thrown
      // later, outside its call stack, and ends the process.
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  close(): void {
    if (this.state === "closed") return;
    this.state = "closed";
    this.onClose(this);
  }

  private async catchUp(reader: SegmentReader): Promise<void> {
    // `read` must return before its first batch is delivered.
    await setImmediate();
    try {
      this.checkStart(reader.seq);
      while (this.state === "behind" && !this.readSlice(reader)) await setImmediate();
      if (this.state === "behind") this.state = "live";
    } catch (error) {
      this.close();
      throw error;
    } finally {
      reader.close();
    }
  }

  /** True once everything durable has been delivered. */
  private readSlice(reader: SegmentReader): boolean {
    const started = performance.now();
    for (let count = 1; this.state === "behind"; count++) {
      const batch = reader.next(this.end().batch);
      if (batch === undefined) return true;
      this.next = reader.seq;
      this.onBatch(batch);
      if (count % CLOCK_EVERY === 0 && performance.now() - started > SLICE_MS) return false;
    }
    return true;
  }

  private checkStart(from: LogSeq): void {
    const end = this.end();
    if (from.batch > end.batch || (from.batch === end.batch && from.record !== end.record)) {
      throw new SeqUnavailable(from, `the log ends at batch ${end.batch}, record ${end.record}`);
    }
  }
}
