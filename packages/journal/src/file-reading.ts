/**
 * One reading of a file journal: from the files until it has caught up, then live.
 *
 * The cutover has no gap because both halves run in one thread: the moment the files are read up
 * to the durable end, nothing can have become durable that the next call will not deliver. The
 * files are read in slices with a turn of the event loop between, so that a late reader does not
 * hold up the order path for longer than one slice.
 */

import type { Disk } from "./disk.js";
import { SeqUnavailable } from "./errors.js";
import type { Batch, LogSeq, Reading } from "./journal.js";
import { LogReader } from "./log-reader.js";

const SLICE_MS = 5;
/** Batches between two looks at the clock. */
const CLOCK_EVERY = 64;

export class FileReading implements Reading {
  readonly live: Promise<void>;
  private readonly onBatch: (batch: Batch) => void;
  private readonly end: () => LogSeq;
  private readonly onClose: (reading: FileReading) => void;
  private next: LogSeq;
  private state: "behind" | "live" | "closed" = "behind";

  constructor(
    disk: Disk,
    directory: string,
    from: LogSeq,
    end: () => LogSeq,
    onBatch: (batch: Batch) => void,
    onClose: (reading: FileReading) => void,
  ) {
    this.onBatch = onBatch;
    this.end = end;
    this.onClose = onClose;
    this.next = from;
    this.live = this.catchUp(new LogReader(disk, directory, from));
    // Whoever does not wait for it learns of a failure by its absence, not by a crash.
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
      // The journal's own work must not end half done; the error still ends the process.
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

  private async catchUp(reader: LogReader): Promise<void> {
    // Never in the caller's turn: `read` returns before its first batch is delivered.
    await nextTurn();
    try {
      this.checkStart(reader.seq);
      while (this.state === "behind" && !this.readSlice(reader)) await nextTurn();
      if (this.state === "behind") this.state = "live";
    } catch (error) {
      this.close();
      throw error;
    } finally {
      reader.close();
    }
  }

  /** True once everything durable has been delivered. */
  private readSlice(reader: LogReader): boolean {
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

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
