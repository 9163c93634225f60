/**
 * The book of the shown market.
 *
 * The client keeps the copy and proves it by its checksum; here stands only which copy it is and
 * that it changed. Readers take the levels they draw from it, in the frame in which they draw.
 */

import type { MirroredBook, PerpgateClient, Subscription } from "@perpgate/sdk";
import { Store } from "../state/store.js";

export interface BookSight {
  readonly symbol: string;
  readonly book: MirroredBook;
  /** Another number, another book. */
  readonly seq: number;
}

export class BookFeed {
  readonly sight = new Store<BookSight | undefined>(undefined);
  private watch: Subscription | undefined;

  constructor(private readonly client: PerpgateClient) {}

  show(symbol: string): void {
    this.watch?.close();
    this.sight.set(undefined);
    this.watch = this.client.stream.watchBook(symbol, (book) => {
      this.sight.set({ symbol, book, seq: book.seq });
    });
  }
}
