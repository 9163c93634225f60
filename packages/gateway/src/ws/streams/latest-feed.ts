/**
 * Public streams that show the latest state: `ticker.<symbol>`, `candles.<symbol>.<resolution>` and
 * `status`.
 *
 * A reader gets the state when it subscribes, or once the edge has it, and then each change, of which
 * the core sends at most ten per second. A reader whose socket has no room is skipped and gets the newest
 * frame when its socket drains.
 */

import type { ClientSocket } from "../connection.js";
import { type WireFrame, wireFrame } from "../wire-frame.js";
import { BroadcastFeed } from "./broadcast-feed.js";
import type { FrameScheduler } from "./frame-scheduler.js";

export interface LatestState {
  readonly t: string;
  readonly s?: string;
  /** The state; undefined while there is none. */
  read(): object | undefined;
  /** Whether a state has fields, such as its time, that its fingerprint leaves out. */
  readonly isTimed?: boolean;
  /** Two states with the same fingerprint are sent once. */
  fingerprint(state: object): string;
}

export class LatestFeed extends BroadcastFeed {
  private frame: WireFrame | undefined;
  private fingerprint = "";
  /** Readers that were skipped for want of room. */
  private readonly behind = new Set<ClientSocket>();

  constructor(
    scheduler: FrameScheduler,
    private readonly state: LatestState,
  ) {
    super(scheduler);
  }

  override get readerCount(): number {
    // `behind` is a subset of the readers; a leak there shows up in the count.
    return Math.max(super.readerCount, this.behind.size);
  }

  /** The state may have changed. */
  touch(): void {
    if (this.isRead) this.scheduler.markDirty(this);
  }

  override open(connection: ClientSocket): () => void {
    const leave = super.open(connection);
    const stopWatching = connection.onDrain(() => this.catchUp(connection));
    return () => {
      leave();
      stopWatching();
      this.behind.delete(connection);
    };
  }

  protected override firstFrame(): WireFrame | undefined {
    // With readers, `frame` is what they have; taking a change into it here would hide it from them.
    if (!this.isRead) {
      this.discard();
      this.refresh(true);
    } else if (this.state.isTimed === true) {
      this.renewTime();
    }
    return this.frame;
  }

  protected override nextFrame(): WireFrame | undefined {
    return this.refresh() ? this.frame : undefined;
  }

  protected override deliver(connection: ClientSocket, frame: WireFrame): void {
    if (connection.offer(frame)) this.behind.delete(connection);
    else this.behind.add(connection);
  }

  protected override discard(): void {
    this.frame = undefined;
    this.fingerprint = "";
  }

  /** Another stream of the socket may have used the room first; the reader then stays in `behind`. */
  private catchUp(connection: ClientSocket): void {
    if (this.behind.has(connection) && this.frame !== undefined) {
      this.deliver(connection, this.frame);
    }
  }

  /** Encodes the frame again if the state has changed, or in any case; returns whether it did. */
  private refresh(inAnyCase = false): boolean {
    const state = this.state.read();
    if (state === undefined) return false;
    const fingerprint = this.state.fingerprint(state);
    if (!inAnyCase && this.frame !== undefined && fingerprint === this.fingerprint) return false;
    this.fingerprint = fingerprint;
    this.encode(state);
    return true;
  }

  /** Encodes the frame again if only what the fingerprint leaves out has changed. */
  private renewTime(): void {
    const state = this.state.read();
    if (state !== undefined && this.state.fingerprint(state) === this.fingerprint)
      this.encode(state);
  }

  private encode(state: object): void {
    const { t, s } = this.state;
    this.frame = wireFrame(s === undefined ? { t, d: state } : { t, s, d: state });
  }
}
