/**
 * Which public streams the core sends to this edge: those that sockets read, and for a while those that
 * they have read, so that readers who come and go cost the core nothing.
 */

import type { CoreAccess } from "@perpgate/link";

/** The core sends a stream for so long after its last reader has left. */
const LINGER_MS = 10_000;

interface Followed {
  readers: number;
  /** While nobody reads it. */
  timer: NodeJS.Timeout | undefined;
}

export class FollowedStreams {
  private readonly streams = new Map<string, Followed>();

  constructor(
    private readonly link: Pick<CoreAccess, "notify">,
    /** What the edge has of the stream is out of date from now on. */
    private readonly onUnfollowed: (stream: string) => void,
  ) {}

  /** A socket reads the stream; returns a function that ends it, to be called once. */
  join(stream: string): () => void {
    const known = this.streams.get(stream);
    const followed = known ?? { readers: 0, timer: undefined };
    if (known === undefined) {
      this.streams.set(stream, followed);
      this.link.notify("follow", { stream });
    }
    clearTimeout(followed.timer);
    followed.readers++;
    return () => {
      followed.readers--;
      if (followed.readers > 0) return;
      followed.timer = setTimeout(() => this.unfollow(stream), LINGER_MS).unref();
    };
  }

  /** No core sends them. */
  forgetAll(): void {
    for (const stream of this.streams.keys()) this.onUnfollowed(stream);
  }

  /** To a core that has not been asked yet. */
  followAll(): void {
    for (const stream of this.streams.keys()) this.link.notify("follow", { stream });
  }

  stop(): void {
    for (const { timer } of this.streams.values()) clearTimeout(timer);
  }

  private unfollow(stream: string): void {
    this.streams.delete(stream);
    this.link.notify("unfollow", { stream });
    this.onUnfollowed(stream);
  }
}
