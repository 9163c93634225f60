/**
 * `book.<symbol>`: a snapshot, then conflated deltas, in the two formats.
 *
 * Each reader's place in the chain is the `seq` of the last frame it was sent. A delta goes to those
 * who stand right before it. Who stands further back had no room for an earlier one: it gets the
 * snapshot that all latecomers share, once there is room, in the round or when its socket drains.
 */

import type { BookLevels } from "@perpgate/venue";
import { snapshotCost } from "../../limits/costs.js";
import type { Connection } from "../connection.js";
import type { PublicStream, ReadingOptions } from "./public-feed.js";
import { type BookDelta, PublishedBook } from "./published-book.js";
import type { Delivery, Pulse, PulseFeed } from "./pulse.js";

interface BookReader {
  readonly connection: Connection;
  readonly isPlain: boolean;
  /** `seq` of the last frame it was sent. */
  seq: number;
}

export class BookFeed implements PublicStream, PulseFeed {
  private readonly readers = new Set<BookReader>();
  /** Kept only while someone reads. */
  private book: PublishedBook | undefined;
  /** The change that the last round has seen. */
  private seenChange = 0;

  constructor(
    private readonly pulse: Pulse,
    private readonly levels: () => BookLevels,
    /** Position of the last command that may have changed the book. */
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
    const stopWatching = connection.onDrain(() => this.catchUp(reader));
    return () => {
      stopWatching();
      this.readers.delete(reader);
      if (this.readers.size === 0) this.book = undefined;
    };
  }

  /** A command has been applied. */
  onCommand(): void {
    if (this.book !== undefined && this.changedAt() !== this.seenChange) this.pulse.wake(this);
  }

  collect(): Delivery | undefined {
    this.seenChange = this.changedAt();
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
    // One that joined during the round has the snapshot of after it.
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
