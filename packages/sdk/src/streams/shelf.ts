/** Channels by stream name: the first watch of a stream makes its channel, the last one ends it. */

import type { Channel, Channels } from "./channels.js";

export class Shelf<C extends Channel> {
  private readonly byStream = new Map<string, C>();

  constructor(private readonly channels: Channels) {}

  get(stream: string): C | undefined {
    return this.byStream.get(stream);
  }

  /** The channel of the stream; `make` is given what to call when nobody watches it any more. */
  take(stream: string, make: (onEmpty: () => void) => C): C {
    const known = this.byStream.get(stream);
    if (known !== undefined) return known;
    const made = make(() => {
      this.drop(stream);
      this.channels.remove(made);
    });
    this.byStream.set(stream, made);
    this.channels.add(made);
    return made;
  }

  /** The channel has been refused. */
  drop(stream: string): void {
    this.byStream.delete(stream);
  }
}
