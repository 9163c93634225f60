/** The public streams: the book, which heals itself; the latest state of something; events. */

import { BookMirror } from "@perpgate/protocol";
import { backoffMs } from "../http/backoff.js";
import type { Channel, Channels } from "./channels.js";
import { MirroredBook } from "./mirrored-book.js";
import { Audience, type Subscription, type Watcher } from "./subscription.js";

const HEAL = { firstMs: 500, longestMs: 15_000 };
/** So many good frames after healing, and the next problem is a new one. */
const TRUSTED_AFTER = 20;

export class BookChannel implements Channel {
  readonly audience: Audience<MirroredBook>;
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
    this.audience = new Audience(stream, () => {
      this.stop();
      onEmpty();
    });
  }

  watch(watcher: Watcher<MirroredBook>): Subscription {
    return this.audience.join(watcher, () => (this.book.live ? this.book : undefined));
  }

  since(): undefined {
    return undefined;
  }

  onBegin(): void {
    this.book.isConnected = true;
    this.audience.begin();
  }

  onPayload(payload: unknown): void {
    const verdict = this.mirror.apply(payload);
    if (verdict.kind === "applied") {
      this.goodFrames++;
      if (this.goodFrames >= TRUSTED_AFTER) this.problems = 0;
      this.audience.tell(this.book);
    } else if (verdict.kind === "resubscribe") {
      this.heal();
      this.audience.report(verdict.reason);
    }
  }

  onRefused(error: Error): void {
    this.stop();
    this.audience.refuse(error);
  }

  onDown(): void {
    clearTimeout(this.timer);
    if (!this.book.isConnected) return;
    this.book.isConnected = false;
    this.audience.report("disconnected");
  }

  /** At once the first time; a stream that goes wrong again and again is not asked in a loop. */
  private heal(): void {
    this.goodFrames = 0;
    const waitMs = this.problems === 0 ? 0 : backoffMs(this.problems, HEAL);
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

/** Reads a payload; undefined for one that has another shape. */
export type PayloadReader<T> = (payload: unknown) => T | undefined;

/** Passes payloads on; of a state, a latecomer is shown the latest. */
export class SimpleChannel<T> implements Channel {
  readonly audience: Audience<T>;
  private latest: T | undefined;
  private isConnected = false;

  constructor(
    readonly stream: string,
    private readonly read: PayloadReader<T>,
    private readonly isState: boolean,
    onEmpty: () => void,
  ) {
    this.audience = new Audience(stream, onEmpty);
  }

  watch(watcher: Watcher<T>): Subscription {
    return this.audience.join(watcher, () => this.latest);
  }

  since(): undefined {
    return undefined;
  }

  onBegin(): void {
    this.isConnected = true;
    this.audience.begin();
  }

  onPayload(payload: unknown): void {
    const value = this.read(payload);
    if (value === undefined) {
      this.audience.report("malformed");
      return;
    }
    if (this.isState) this.latest = value;
    this.audience.tell(value);
  }

  onRefused(error: Error): void {
    this.audience.refuse(error);
  }

  onDown(): void {
    if (!this.isConnected) return;
    this.isConnected = false;
    this.latest = undefined;
    this.audience.report("disconnected");
  }
}
