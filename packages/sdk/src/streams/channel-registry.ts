/** Channels by stream name: the first watch of a stream creates its channel, the last one ends it. */

import type { Channel, Channels } from "./channels.js";

export class ChannelRegistry<C extends Channel> {
  private readonly byStream = new Map<string, C>();

  constructor(private readonly channels: Channels) {}

  /** The channel of the stream. `create` gets a callback for when the last watch has ended. */
  getOrCreate(stream: string, create: (onEmpty: () => void) => C): C {
    const known = this.byStream.get(stream);
    if (known !== undefined) return known;
    const created = create(() => {
      this.byStream.delete(stream);
      this.channels.remove(created);
    });
    this.byStream.set(stream, created);
    this.channels.add(created);
    return created;
  }
}
