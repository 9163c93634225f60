/** One private stream of a session. All watches of it share one channel. */

import type { Channels } from "./channels.js";
import {
  type FrameReader,
  PrivateChannel,
  type PrivateWatchOptions,
  type StateKeeper,
} from "./private-channel.js";
import type { Subscription } from "./subscription.js";

export class PrivateStream<T extends { readonly seq: number }> {
  /** Open while there is a watch. */
  private channel: PrivateChannel<T> | undefined;

  constructor(
    private readonly channels: Channels,
    private readonly name: string,
    private readonly read: FrameReader<T>,
    /** For a stream that begins with a snapshot. */
    private readonly newState?: () => StateKeeper<T>,
  ) {}

  /** @throws TypeError for a `since` while another watch is open: both would share its start. */
  watch(callback: (frame: T) => void, options: PrivateWatchOptions): Subscription {
    const { since, onGap } = options;
    if (this.channel !== undefined && (since !== undefined || !this.channel.canBeJoined)) {
      throw new TypeError(
        `${this.name} is watched already; close that watch before resuming another`,
      );
    }
    this.channel ??= this.open(since);
    return this.channel.watch({ callback, options }, onGap);
  }

  private open(since: number | undefined): PrivateChannel<T> {
    const opened = new PrivateChannel(this.name, this.read, this.newState?.(), since, () => {
      this.channel = undefined;
      this.channels.remove(opened);
    });
    this.channels.add(opened);
    return opened;
  }
}
