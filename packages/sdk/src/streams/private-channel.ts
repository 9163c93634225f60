/**
 * A private stream: what one account's commands changed, each once, in order, whatever happens to
 * the connection.
 *
 * The channel remembers the last position it has passed on and goes on from there after a lost
 * connection; the server sends what was missed. Only if the server's log does not have that position
 * is there a gap, and then it is said.
 */

import type { Channel } from "./channels.js";
import { fieldsOf } from "./requests.js";
import {
  Audience,
  call,
  type Subscription,
  type Watcher,
  type WatchOptions,
} from "./subscription.js";

/** What happened between the two positions cannot be told; a snapshot follows, if the stream has one. */
export interface StreamGap {
  readonly since: number;
  readonly seq: number;
}

export interface PrivateWatchOptions extends WatchOptions {
  /** Goes on after this position, which an earlier watch has passed on as `seq`. */
  readonly since?: number;
  readonly onGap?: (gap: StreamGap) => void;
}

/** Reads a payload, `seq` aside; undefined for one that has another shape. */
export type FrameReader<T> = (payload: unknown) => T | undefined;

interface Positioned {
  readonly seq: number;
}

/** Keeps what a latecomer has to be shown: a snapshot with all updates since. */
export interface StateKeeper<T> {
  apply(frame: T): void;
  snapshot(): T | undefined;
}

export class PrivateChannel<T extends Positioned> implements Channel {
  private readonly audience: Audience<T>;
  private readonly gapWatchers = new Set<(gap: StreamGap) => void>();
  private position: number | undefined;
  private isConnected = false;
  private readonly isResumed: boolean;

  constructor(
    readonly stream: string,
    private readonly read: FrameReader<T>,
    private readonly state: StateKeeper<T> | undefined,
    since: number | undefined,
    onEmpty: () => void,
  ) {
    this.position = since;
    this.isResumed = since !== undefined;
    this.audience = new Audience(stream, onEmpty);
  }

  /** Whether a latecomer can be shown what is open: one that went on from `since` never knew. */
  get canBeJoined(): boolean {
    return !this.isResumed || this.state === undefined || this.state.snapshot() !== undefined;
  }

  watch(watcher: Watcher<T>, onGap: ((gap: StreamGap) => void) | undefined): Subscription {
    const subscription = this.audience.join(watcher, () => this.state?.snapshot());
    if (onGap === undefined) return subscription;
    this.gapWatchers.add(onGap);
    return {
      ...subscription,
      close: () => {
        this.gapWatchers.delete(onGap);
        subscription.close();
      },
    };
  }

  since(): number | undefined {
    return this.position;
  }

  /** A resumed stream has its past still to come, so only a new one stands at `seq` already. */
  onBegin(seq: number, isResumed: boolean): void {
    this.isConnected = true;
    if (!isResumed) this.position = seq;
    this.audience.begin();
  }

  onPayload(payload: unknown): void {
    const { type, since, seq } = fieldsOf(payload);
    if (typeof seq !== "number") {
      this.audience.report("malformed");
      return;
    }
    if (type === "gap") {
      this.position = seq;
      const gap = { since: typeof since === "number" ? since : 0, seq };
      for (const tell of [...this.gapWatchers]) call(() => tell(gap));
      this.audience.report("gap");
      return;
    }
    // A snapshot stands at the position that the stream begins with; nothing else repeats one.
    if (type !== "snapshot" && this.position !== undefined && seq <= this.position) return;
    const frame = this.read(payload);
    if (frame === undefined) {
      this.audience.report("malformed");
      return;
    }
    this.position = seq;
    this.state?.apply(frame);
    this.audience.tell(frame);
  }

  onRefused(error: Error): void {
    this.audience.refuse(error);
  }

  onDown(): void {
    if (!this.isConnected) return;
    this.isConnected = false;
    this.audience.report("disconnected");
  }
}
