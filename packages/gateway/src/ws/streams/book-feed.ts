/**
 * `book.<symbol>`: a snapshot, then conflated deltas, in the two formats.
 *
 * `BookReader.seq` is the `seq` of the last frame sent to the reader. A delta is sent to the readers
 * whose `seq` equals the delta's `prev`. A reader with a lower `seq` had no room for an earlier delta:
 * it gets the current snapshot, encoded once for all such readers, in the next round or when its socket
 * drains, as soon as there is room. So does a reader that subscribed before the edge had the book.
 */

import { snapshotCost } from "../../limits/costs.js";
import type { ClientSocket } from "../connection.js";
import type { EdgeBookLevels } from "./book-copy.js";
import type { PublicFeed, ReadingOptions } from "./broadcast-feed.js";
import type { Delivery, FrameScheduler, ScheduledFeed } from "./frame-scheduler.js";
import { type BookDelta, PublishedBook } from "./published-book.js";

/** The `seq` of a reader that has no frame. */
const NO_FRAME = -1;

interface BookReader {
  readonly connection: ClientSocket;
  readonly isPlain: boolean;
  seq: number;
}

/** The edge's copy of a book is not the core's: a fault of the program. */
export class BookDiffers extends Error {
  override readonly name = "BookDiffers";

  constructor({ units, seq, sum }: EdgeBookLevels, published: PublishedBook) {
    super(`book.${units.symbol} at ${seq} has the sum ${published.sum}; the core's is ${sum}`);
  }
}

export class BookStreamFeed implements PublicFeed, ScheduledFeed {
  private readonly readers = new Set<BookReader>();
  /** Undefined while nobody reads. */
  private book: PublishedBook | undefined;
  /** Whether a reader has subscribed before there was a book. */
  private isAwaited = false;

  constructor(
    private readonly scheduler: FrameScheduler,
    /** The present book; undefined while the edge has none. */
    private readonly levels: () => EdgeBookLevels | undefined,
  ) {}

  get readerCount(): number {
    return this.readers.size;
  }

  open(connection: ClientSocket, { isPlain }: ReadingOptions): () => void {
    const now = this.levels();
    if (now !== undefined) this.book ??= new PublishedBook(now);
    const { book } = this;
    const reader: BookReader = { connection, isPlain, seq: book?.seq ?? NO_FRAME };
    if (book === undefined) {
      this.isAwaited = true;
    } else {
      const snapshot = book.snapshot(isPlain);
      connection.charge(snapshotCost(snapshot.length, isPlain));
      connection.send(snapshot);
    }
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

  /** The present book has changed. */
  onChange(): void {
    if (this.readers.size > 0) this.scheduler.markDirty(this);
  }

  collect(): Delivery | undefined {
    const now = this.levels();
    if (now === undefined || this.readers.size === 0) return undefined;
    this.book ??= new PublishedBook(now);
    const delta = this.book.advance(now);
    if (now.sum !== undefined && now.sum !== this.book.sum) throw new BookDiffers(now, this.book);
    if (delta === undefined && !this.isAwaited) return undefined;
    this.isAwaited = false;
    const readers = this.readers.values();
    return {
      next: () => {
        const { done, value } = readers.next();
        if (done === true) return false;
        if (delta === undefined) this.catchUp(value);
        else this.deliver(value, delta);
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
