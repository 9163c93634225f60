/**
 * Watched lists of an exchange, by name.
 *
 * Streams are the SDK's: they reconnect, resume without gaps and check the book's checksum automatically,
 * so a watch loop goes on through a lost connection.
 */

import type { Subscription, WatchOptions } from "@perpgate/sdk";
import { errors } from "ccxt";
import { Feed } from "./feed.js";
import { Trading } from "./trading.js";

export type Push<T> = (entries: Iterable<readonly [key: string, value: T]>) => void;
type Subscribe<T> = (push: Push<T>, options: WatchOptions) => Closable;
type Closable = Pick<Subscription, "close">;

export class Watching extends Trading {
  private readonly feeds = new Map<string, Pick<Feed<never>, "end">>();

  /** The feed of a name; the first call subscribes. */
  protected feed<T>(
    feeds: Map<string, Feed<T>>,
    name: string,
    limit: number,
    subscribe: Subscribe<T>,
  ): Feed<T> {
    const known = feeds.get(name);
    if (known !== undefined) return known;
    let subscription: Closable | undefined;
    const feed = new Feed<T>(limit, () => {
      feeds.delete(name);
      this.feeds.delete(name);
      subscription?.close();
    });
    feeds.set(name, feed);
    this.feeds.set(name, feed);
    const session = this.currentSession;
    subscription = subscribe((entries) => feed.push(entries), {
      onProblem: ({ kind, error }) => {
        if (kind === "refused") feed.end(this.sessionError(error, session));
      },
    });
    return feed;
  }

  /** With `newUpdates`, as CCXT has it by default, only what came since the last call. */
  protected async updates<T>(feed: Feed<T>): Promise<T[]> {
    const fresh = await feed.next();
    return this.newUpdates ? fresh : feed.all();
  }

  protected unwatch(name: string): void {
    this.feeds.get(name)?.end(new errors.UnsubscribeError(`${this.id} ${name} unwatched`));
  }

  protected override disconnect(): void {
    const reason = new errors.ExchangeClosedByUser(`${this.id} closed by user`);
    for (const feed of [...this.feeds.values()]) feed.end(reason);
    super.disconnect();
  }
}
