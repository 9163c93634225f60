/**
 * A private stream: every change of one account, each once and in order, across lost connections.
 *
 * The channel remembers the seq of the last frame that it passed on and resumes after it when the
 * connection is back; the server sends the missed frames. If the server no longer has them, watchers
 * are notified of a gap.
 */

import type { Channel, Channels } from "./channels.js";
import { copiedFields } from "./requests.js";
import {
  callSafely,
  type Subscription,
  type Watcher,
  Watchers,
  type WatchOptions,
} from "./subscription.js";

/** Changes between the two seqs are lost; a snapshot follows, if the stream has one. */
export interface StreamGap {
  readonly since: number;
  readonly seq: number;
}

export interface PrivateWatchOptions extends WatchOptions {
  /** Resume after this seq, from a frame of an earlier watch. */
  readonly since?: number;
  readonly onGap?: (gap: StreamGap) => void;
}

interface Sequenced {
  readonly seq: number;
}

/** Keeps the state for later watches: a snapshot with all updates since. */
export interface StateKeeper<T> {
  apply(frame: T): void;
  snapshot(): T | undefined;
}

class PrivateChannel<T extends Sequenced> implements Channel {
  private readonly watchers: Watchers<T>;
  private readonly gapWatchers = new Set<(gap: StreamGap) => void>();
  private lastSeq: number | undefined;
  /** Whether the state is still to come, or a new one after a gap. */
  private awaitsSnapshot = false;
  private isConnected = false;
  private readonly isResumed: boolean;

  constructor(
    readonly stream: string,
    private readonly isFrame: (payload: unknown) => payload is T,
    private readonly state: StateKeeper<T> | undefined,
    since: number | undefined,
    onEmpty: () => void,
  ) {
    this.lastSeq = since;
    this.isResumed = since !== undefined;
    this.watchers = new Watchers(stream, onEmpty);
  }

  /** Whether a later watch can get the state: a stream resumed from `since` had no snapshot. */
  get canBeJoined(): boolean {
    return !this.isResumed || this.state === undefined || this.state.snapshot() !== undefined;
  }

  watch(watcher: Watcher<T>, onGap: ((gap: StreamGap) => void) | undefined): Subscription {
    const subscription = this.watchers.join(watcher, () => this.state?.snapshot());
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
    return this.awaitsSnapshot ? undefined : this.lastSeq;
  }

  /** The missed frames of a resumed stream are still to come, so only a new one is at `seq` already. */
  onBegin(seq: number, isResumed: boolean): void {
    this.isConnected = true;
    if (!isResumed) this.startAt(seq);
    this.watchers.begin();
  }

  onPayload(payload: unknown): void {
    const { type, since, seq } = copiedFields(payload);
    if (typeof seq !== "number") {
      this.watchers.report("malformed");
      return;
    }
    if (type === "gap") {
      this.startAt(seq);
      const gap = { since: typeof since === "number" ? since : 0, seq };
      for (const onGap of [...this.gapWatchers]) callSafely(() => onGap(gap));
      this.watchers.report("gap");
      return;
    }
    // A snapshot has the seq that the stream starts with; any other frame with a known seq is a repeat.
    if (type !== "snapshot" && this.lastSeq !== undefined && seq <= this.lastSeq) return;
    if (!this.isFrame(payload)) {
      this.watchers.report("malformed");
      return;
    }
    this.lastSeq = seq;
    if (type === "snapshot") this.awaitsSnapshot = false;
    this.state?.apply(payload);
    this.watchers.notify(payload);
  }

  onRefused(error: Error): void {
    this.watchers.refuse(error);
  }

  onDown(): void {
    if (!this.isConnected) return;
    this.isConnected = false;
    this.watchers.report("disconnected");
  }

  private startAt(seq: number): void {
    this.lastSeq = seq;
    this.awaitsSnapshot = this.state !== undefined;
  }
}

/** One private stream of a session. All watches of it share one channel. */
export class PrivateStream<T extends Sequenced> {
  /** Open while there is a watch. */
  private channel: PrivateChannel<T> | undefined;

  constructor(
    private readonly channels: Channels,
    private readonly name: string,
    private readonly isFrame: (payload: unknown) => payload is T,
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
    const opened = new PrivateChannel(this.name, this.isFrame, this.newState?.(), since, () => {
      this.channel = undefined;
      this.channels.remove(opened);
    });
    this.channels.add(opened);
    return opened;
  }
}
