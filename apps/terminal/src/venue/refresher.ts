/**
 * Repeats a request after every change, and until it succeeds. All requests of the page that are not
 * a user's action use it.
 *
 * `soon` reports a change. At most one request per `afterMs` is sent and only one is in flight, so
 * that an older response cannot replace a newer one. A failed request is repeated with exponential
 * backoff, because no further change might come. `close` ends it permanently.
 */

const AFTER_MS = 200;
const LONGEST_WAIT_MS = 10_000;

/** For requests inside a refresher, which repeats them sooner than the client once the connection is back. */
export const ONCE = { retries: 0 };

interface RefresherOptions {
  /** How long changes are collected, and the base of the backoff. */
  readonly afterMs?: number;
  /** The longest backoff. */
  readonly longestWaitMs?: number;
}

export class Refresher {
  private readonly afterMs: number;
  private readonly longestWaitMs: number;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private dueAt = 0;
  private isSending = false;
  /** Whether something changed after the request was sent. */
  private isOutdated = false;
  private isClosed = false;
  /** Consecutive failures. */
  private failures = 0;

  /** A rejected `send` is repeated. */
  constructor(
    private readonly send: () => Promise<void>,
    { afterMs = AFTER_MS, longestWaitMs = LONGEST_WAIT_MS }: RefresherOptions = {},
  ) {
    this.afterMs = afterMs;
    this.longestWaitMs = longestWaitMs;
  }

  /** Something changed, or the connection is back: sends within `afterMs`, even during a backoff. */
  soon(): void {
    if (this.isSending) this.isOutdated = true;
    else this.sendWithin(this.afterMs);
  }

  async now(): Promise<void> {
    if (this.isSending || this.isClosed) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.isSending = true;
    this.isOutdated = false;
    const hasSucceeded = await this.send().then(
      () => true,
      () => false,
    );
    this.isSending = false;
    this.failures = hasSucceeded ? 0 : this.failures + 1;
    if (!hasSucceeded) this.sendWithin(this.waitMs());
    else if (this.isOutdated) this.sendWithin(this.afterMs);
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  /** Keeps a timer that fires earlier: frequent changes do not delay the request. */
  private sendWithin(waitMs: number): void {
    const dueAt = performance.now() + waitMs;
    if (this.isClosed || (this.timer !== undefined && this.dueAt <= dueAt)) return;
    clearTimeout(this.timer);
    this.dueAt = dueAt;
    this.timer = setTimeout(() => void this.now(), waitMs);
  }

  /** Doubles with each failure; half of it is random, so that pages do not retry in step. */
  private waitMs(): number {
    const full = Math.min(this.longestWaitMs, this.afterMs * 2 ** Math.min(this.failures, 20));
    return full / 2 + (full / 2) * Math.random();
  }
}
