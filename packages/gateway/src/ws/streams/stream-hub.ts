/** All feeds: those of the public streams and one for all private streams, from the core's notices. */

import type { CoreAccess } from "@perpgate/link";
import type { PrivateStreamName } from "@perpgate/protocol";
import type { ClientSocket, ConnectionSession } from "../connection.js";
import { type Beginning, PrivateStreamFeed } from "./account-feed.js";
import type { ReadingOptions } from "./broadcast-feed.js";
import { PublicFeeds, type PublicStreamName } from "./public-feeds.js";

interface StreamHubOptions {
  readonly link: CoreAccess;
  /** Log seq of the last command that an order was answered with. */
  readonly seq: () => number;
  readonly onFault: (error: unknown) => void;
  /** The release of this gateway, for the stream `status`. */
  readonly release: string;
}

export class StreamHub {
  private readonly publics: PublicFeeds;
  private readonly accounts: PrivateStreamFeed;

  constructor(private readonly options: StreamHubOptions) {
    const { link, onFault, release } = options;
    this.publics = new PublicFeeds(link, onFault, release);
    this.accounts = new PrivateStreamFeed(link, onFault);
  }

  /** Resolves once streams may be opened; rejects if the link ends before. */
  get ready(): Promise<void> {
    return this.publics.ready;
  }

  /** Log seq of the last command that this edge has shown. */
  get seq(): number {
    return Math.max(this.options.link.position, this.options.seq());
  }

  /** Open subscriptions of all feeds. */
  get readerCount(): number {
    return this.publics.readerCount + this.accounts.readerCount;
  }

  hasMarket(symbol: string): boolean {
    return this.publics.hasMarket(symbol);
  }

  /** Subscribes to a public stream of a listed market; returns a function that unsubscribes. */
  openPublic(
    connection: ClientSocket,
    name: PublicStreamName,
    options: ReadingOptions,
  ): () => void {
    return this.publics.open(connection, name, options);
  }

  openPrivate(
    connection: ClientSocket,
    stream: PrivateStreamName,
    session: Pick<ConnectionSession, "number" | "account">,
    beginning: Beginning,
  ): () => void {
    return this.accounts.open(connection, stream, session, beginning);
  }

  stop(): void {
    this.publics.stop();
    this.accounts.stop();
  }
}
