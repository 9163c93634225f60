/** Channels of the public streams: the book, which repairs itself; states and events. */

import { BookMirror } from "@perpgate/protocol/core";
import { backoffMs, RESUBSCRIBE_BACKOFF } from "../retry.js";
import type { Channel, Channels } from "./channels.js";
import { MirroredBook } from "./mirrored-book.js";
import { type Subscription, type Watcher, Watchers } from "./subscription.js";

/** Valid frames after which the next problem counts as the first. */
const VALID_FRAMES_TO_RESET = 20;

export class BookChannel implements Channel {
  readonly watchers: Watchers<MirroredBook>;
  private readonly mirror = new BookMirror();
  private readonly book: MirroredBook;
  private problems = 0;
  private goodFrames = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly stream: string,
    symbol: string,
    private readonly channels: Channels,
    onEmpty: () => void,
  ) {
    this.book = new MirroredBook(symbol, this.mirror);
    this.watchers = new Watchers(stream, () => {
      this.stop();
      onEmpty();
    });
  }

  watch(watcher: Watcher<MirroredBook>): Subscription {
    return this.watchers.join(watcher, () => (this.book.live ? this.book : undefined));
  }

  since(): undefined {
    return undefined;
  }

  onBegin(): void {
    this.book.isConnected = true;
    this.watchers.begin();
  }

  onPayload(payload: unknown): void {
    const verdict = this.mirror.apply(payload);
    if (verdict.kind === "applied") {
      this.goodFrames++;
      if (this.goodFrames >= VALID_FRAMES_TO_RESET) this.problems = 0;
      this.watchers.notify(this.book);
    } else if (verdict.kind === "resubscribe") {
      this.repair();
      this.watchers.report(verdict.reason);
    }
  }

  onRefused(error: Error): void {
    this.stop();
    this.watchers.refuse(error);
  }

  onDown(): void {
    clearTimeout(this.timer);
    if (!this.book.isConnected) return;
    this.book.isConnected = false;
    this.watchers.report("disconnected");
  }

  /** Immediately the first time; after that with backoff. */
  private repair(): void {
    this.goodFrames = 0;
    const waitMs = this.problems === 0 ? 0 : backoffMs(this.problems, RESUBSCRIBE_BACKOFF);
    this.problems++;
    clearTimeout(this.timer);
    if (waitMs === 0) this.channels.restart(this);
    else this.timer = setTimeout(() => this.channels.restart(this), waitMs);
  }

  private stop(): void {
    clearTimeout(this.timer);
    this.book.isConnected = false;
  }
}

/** Decodes a payload; undefined if it has another shape. */
type PayloadReader<T> = (payload: unknown) => T | undefined;

/** Passes payloads on; if they are states, a later watch gets the latest one first. */
export class SimpleChannel<T> implements Channel {
  readonly watchers: Watchers<T>;
  private latest: T | undefined;
  private isConnected = false;

  constructor(
    readonly stream: string,
    private readonly read: PayloadReader<T>,
    private readonly isState: boolean,
    onEmpty: () => void,
  ) {
    this.watchers = new Watchers(stream, onEmpty);
  }

  watch(watcher: Watcher<T>): Subscription {
    return this.watchers.join(watcher, () => this.latest);
  }

  since(): undefined {
    return undefined;
  }

  onBegin(): void {
    // The socket moved to another gateway: events of the time between are lost.
    if (this.isConnected && !this.isState) this.watchers.report("gap");
    this.isConnected = true;
    this.watchers.begin();
  }

  onPayload(payload: unknown): void {
    const value = this.read(payload);
    if (value === undefined) {
      this.watchers.report("malformed");
      return;
    }
    if (this.isState) this.latest = value;
    this.watchers.notify(value);
  }

  onRefused(error: Error): void {
    this.watchers.refuse(error);
  }

  onDown(): void {
    if (!this.isConnected) return;
    this.isConnected = false;
    this.latest = undefined;
    this.watchers.report("disconnected");
  }
}
