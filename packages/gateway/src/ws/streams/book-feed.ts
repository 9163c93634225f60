/**
 * `book.<symbol>`: a snapshot, then conflated deltas, in the two formats.
 *
 * `BookReader.seq` is the `seq` of the last frame sent to the reader. A delta is sent to the readers
 * whose `seq` equals the delta's `prev`. A reader with a lower `seq` had no room for an earlier delta:
 * it gets the current snapshot, encoded once for all such readers, in the next round or when its socket
 * drains, as soon as there is room.
 */

import type { BookLevels } from "@perpgate/venue";
import { snapshotCost } from "../../limits/costs.js";
import type { Connection } from "../connection.js";
import type { PublicStream, ReadingOptions } from "./broadcast-feed.js";
import type { Delivery, FrameScheduler, ScheduledFeed } from "./frame-scheduler.js";
import { type BookDelta, PublishedBook } from "./published-book.js";

interface BookReader {
  readonly connection: Connection;
  readonly isPlain: boolean;
  seq: number;
}

export class BookFeed implements PublicStream, ScheduledFeed {
  private readonly readers = new Set<BookReader>();
  /** Undefined while nobody reads. */
  private book: PublishedBook | undefined;
  /** `changedAt()` at the last round. */
  private collectedChange = 0;

  constructor(
    private readonly scheduler: FrameScheduler,
    private readonly levels: () => BookLevels,
    /** Seq of the last command that may have changed the book. */
    private readonly changedAt: () => number,
  ) {}

  get readerCount(): number {
    return this.readers.size;
  }

  open(connection: Connection, { isPlain }: ReadingOptions): () => void {
    this.book ??= new PublishedBook(this.levels());
    const reader: BookReader = { connection, isPlain, seq: this.book.seq };
    const snapshot = this.book.snapshot(isPlain);
    connection.charge(snapshotCost(snapshot.length, isPlain));
    connection.send(snapshot);
    this.readers.add(reader);
    const stopWatching = connection.onDrain(() => {
      this.scheduler.attempt(() => this.catchUp(reader));
    });
    return () => {
      stopWatching();
      this.readers.delete(reader);
      if (this.readers.size === 0) this.book = undefined;
    };
  }

  onCommand(): void {
    if (this.book !== undefined && this.changedAt() !== this.collectedChange)
      this.scheduler.markDirty(this);
  }

  collect(): Delivery | undefined {
    this.collectedChange = this.changedAt();
    const delta = this.book?.advance(this.levels());
    if (delta === undefined) return undefined;
    const readers = this.readers.values();
    return {
      next: () => {
        const { done, value } = readers.next();
        if (done === true) return false;
        this.deliver(value, delta);
        return true;
      },
    };
  }

  private deliver(reader: BookReader, { prev, seq, frames }: BookDelta): void {
    // It subscribed during the round: its snapshot already includes this delta.
    if (reader.seq >= seq) return;
    if (reader.seq !== prev) {
      this.catchUp(reader);
    } else if (reader.connection.offer(frames.of(reader.isPlain))) {
      reader.seq = seq;
    }
  }

  private catchUp(reader: BookReader): void {
    const { book } = this;
    const { connection, isPlain } = reader;
    if (book === undefined || reader.seq === book.seq || !connection.hasRoom) return;
    const snapshot = book.snapshot(isPlain);
    if (!connection.offer(snapshot)) return;
    connection.charge(snapshotCost(snapshot.length, isPlain));
    reader.seq = book.seq;
  }
}
