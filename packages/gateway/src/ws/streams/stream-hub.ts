/**
 * All feeds: those of the public streams, from the core's notices, and one for all private streams.
 *
 * `onCommand` runs inside the apply callback of every durable command and must not throw; it only
 * records what changed. A fault is logged; sockets that would miss a private frame are closed and resume.
 */

import type { EdgeLink } from "@perpgate/link";
import type { PrivateStream } from "@perpgate/protocol";
import type { Applied, Venue } from "@perpgate/venue";
import type { Connection } from "../connection.js";
import { AccountFeed } from "./account-feed.js";
import type { ReadingOptions } from "./broadcast-feed.js";
import { PublicFeeds, type PublicStreamName } from "./public-feeds.js";

export interface StreamHubOptions {
  readonly link: EdgeLink;
  readonly venue: Venue;
  readonly closeSession: (session: number) => void;
  readonly onFault: (error: unknown) => void;
  /** The release of this gateway, for the stream `status`. */
  readonly release: string;
}

export class StreamHub {
  private readonly venue: Venue;
  private readonly publics: PublicFeeds;
  private readonly accounts: AccountFeed;
  private readonly stopObserving: () => void;

  constructor(private readonly options: StreamHubOptions) {
    const { link, venue, onFault, release } = options;
    this.venue = venue;
    this.publics = new PublicFeeds(link, onFault, release);
    this.accounts = new AccountFeed(venue, onFault);
    this.stopObserving = venue.observe({ onCommand: (applied) => this.onCommand(applied) });
  }

  /** Resolves once streams may be opened; rejects if the link ends before. */
  get ready(): Promise<void> {
    return this.publics.ready;
  }

  /** Log seq of the last command that streams may show. */
  get seq(): number {
    return this.venue.seq;
  }

  /** Open subscriptions of all feeds. */
  get readerCount(): number {
    return this.publics.readerCount + this.accounts.readerCount;
  }

  hasMarket(symbol: string): boolean {
    return this.publics.hasMarket(symbol);
  }

  /** Subscribes to a public stream of a listed market; returns a function that unsubscribes. */
  openPublic(connection: Connection, name: PublicStreamName, options: ReadingOptions): () => void {
    return this.publics.open(connection, name, options);
  }

  openPrivate(
    connection: Connection,
    stream: PrivateStream,
    account: number,
    since: number | undefined,
  ): () => void {
    return this.accounts.open(connection, stream, account, since);
  }

  stop(): void {
    this.stopObserving();
    this.publics.stop();
    this.accounts.stop();
  }

  private onCommand(applied: Applied): void {
    // First and outside the try block: a fault below must not lose a private frame.
    this.accounts.onCommand(applied.seq);
    const { closeSession, onFault } = this.options;
    // An exception here would stop the venue.
    try {
      this.publics.scheduler.onCommand();
      this.venue.views.emitPublicEvents(applied, {
        onTrade: () => undefined,
        onBlock: () => undefined,
        onSessionClosed: closeSession,
      });
    } catch (error) {
      onFault(error);
    }
  }
}
