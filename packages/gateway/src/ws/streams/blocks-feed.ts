/** `blocks`: every sealed block, one frame each. */

import type { Block } from "@perpgate/protocol";
import { type WireFrame, wireFrame } from "../wire-frame.js";
import { SimpleFeed } from "./public-feed.js";
import type { Pulse } from "./pulse.js";

export class BlocksFeed extends SimpleFeed {
  private sealed: number[] = [];

  constructor(
    pulse: Pulse,
    private readonly blockOf: (number: number) => Block | undefined,
  ) {
    super(pulse);
  }

  onBlock(number: number): void {
    if (!this.isRead) return;
    this.sealed.push(number);
    this.pulse.wake(this);
  }

  /** Frames go out together, so several blocks of one round are several frames in one write. */
  protected override nextFrame(): WireFrame | undefined {
    const frames = this.sealed.flatMap((number) => {
      const block = this.blockOf(number);
      return block === undefined ? [] : [wireFrame({ t: "blocks", d: block })];
    });
    this.sealed = [];
    return frames.length === 0 ? undefined : Buffer.concat(frames);
  }

  protected override forget(): void {
    this.sealed = [];
  }
}
