/**
 * Streams that show the latest state of something: tickers and candles. A reader gets the state when
 * it joins and then each change, at most ten a second. One that falls behind is passed over, and is
 * shown the state again as soon as it has caught up: an old ticker is of no use to anyone.
 */

import type { Connection } from "../connection.js";
import { type WireFrame, wireFrame } from "../wire-frame.js";
import { SimpleFeed } from "./public-feed.js";
import type { Pulse } from "./pulse.js";

const MIN_INTERVAL_MS = 100;

export interface LatestState {
  readonly t: string;
  readonly s: string;
  /** The state, or undefined while there is none. */
  read(): object | undefined;
  /** What makes two states differ: a ticker's time alone does not. */
  fingerprint(state: object): string;
}

export class LatestFeed extends SimpleFeed {
  private frame: WireFrame | undefined;
  private fingerprint = "";
  private timer: NodeJS.Timeout | undefined;
  private readonly behind = new Set<Connection>();

  constructor(
    pulse: Pulse,
    private readonly state: LatestState,
  ) {
    super(pulse);
  }

  override get readerCount(): number {
    // Whoever is behind reads; one that does not any more must not be kept there either.
    return Math.max(super.readerCount, this.behind.size);
  }

  /** Something may have changed. */
  touch(): void {
    if (!this.isRead) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.pulse.wake(this);
    }, MIN_INTERVAL_MS);
  }

  override open(connection: Connection): () => void {
    const leave = super.open(connection);
    const stopWatching = connection.onDrain(() => this.catchUp(connection));
    return () => {
      leave();
      stopWatching();
      this.behind.delete(connection);
      if (this.isRead) return;
      clearTimeout(this.timer);
      this.timer = undefined;
    };
  }

  protected override firstFrame(): WireFrame | undefined {
    // Those who read already must not miss the change that a newcomer would find.
    if (!this.isRead) this.refresh();
    return this.frame;
  }

  protected override nextFrame(): WireFrame | undefined {
    return this.refresh() ? this.frame : undefined;
  }

  protected override deliver(connection: Connection, frame: WireFrame): void {
    if (connection.offer(frame)) this.behind.delete(connection);
    else this.behind.add(connection);
  }

  protected override forget(): void {
    this.frame = undefined;
    this.fingerprint = "";
  }

  private catchUp(connection: Connection): void {
    // Another stream of the same socket may have taken the room: then it stays behind until the next.
    if (this.behind.has(connection) && this.frame !== undefined) {
      this.deliver(connection, this.frame);
    }
  }

  /** Makes the frame anew if the state differs from the one it shows. */
  private refresh(): boolean {
    const state = this.state.read();
    if (state === undefined) return false;
    const fingerprint = this.state.fingerprint(state);
    if (this.frame !== undefined && fingerprint === this.fingerprint) return false;
    this.fingerprint = fingerprint;
    this.frame = wireFrame({ t: this.state.t, s: this.state.s, d: state });
    return true;
  }
}
