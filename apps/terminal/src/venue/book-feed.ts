/**
 * The book of the shown market. The client maintains the copy and checks its checksum; this store
 * only signals changes. Components read the levels they need when they draw.
 */

import type { MirroredBook, PerpgateClient, Subscription } from "@perpgate/sdk";
import { Store } from "../state/store.js";

export interface BookState {
  readonly symbol: string;
  readonly book: MirroredBook;
  /** Changes with every update of the book. */
  readonly seq: number;
}

export class BookFeed {
  readonly state = new Store<BookState | undefined>(undefined);
  private watch: Subscription | undefined;

  constructor(private readonly client: PerpgateClient) {}

  show(symbol: string): void {
    this.watch?.close();
    this.state.set(undefined);
    this.watch = this.client.stream.watchBook(symbol, (book) => {
      this.state.set({ symbol, book, seq: book.seq });
    });
  }
}
