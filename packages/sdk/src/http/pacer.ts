/**
 * A lane of requests that keeps within one limit of the server: first come, first sent, so many at
 * once, and no faster than the server lets pass.
 *
 * Until the server has told its limit, few are sent at once. From then on the lane holds a bucket
 * like the server's. The two differ by what is under way: an answer may have been
 * made before or after requests that were sent around it. The bucket therefore stays between what
 * the server had left and that less what is under way.
 */

import type { LimitState } from "./limit-headers.js";

interface Bucket {
  tokens: number;
  readonly burst: number;
  readonly perMs: number;
  filledAt: number;
}

/** Before anything is known: few enough for any limit, and plenty for what has none. */
const UNTOLD_AT_ONCE = 16;
/** A server that asks for more is asked again before. */
const LONGEST_HOLD_MS = 30_000;

export class Pacer {
  private readonly waiting: (() => void)[] = [];
  private underWay = 0;
  private bucket: Bucket | undefined;
  private blockedUntil = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly maxAtOnce: number) {}

  /** Sends when it is this one's turn. Leaves the queue with the signal's reason if aborted. */
  async run<T>(signal: AbortSignal | undefined, send: () => Promise<T>): Promise<T> {
    await this.turn(signal);
    try {
      return await send();
    } finally {
      this.underWay--;
      this.letGo();
    }
  }

  /** The server has told what is left. */
  learn({ burst, perSecond, remaining }: LimitState): void {
    const now = performance.now();
    const perMs = perSecond / 1_000;
    // The answer's own request is still counted as under way.
    const atLeast = Math.max(0, remaining - (this.underWay - 1));
    const known = this.bucket === undefined ? remaining : this.tokensAt(this.bucket, now);
    const tokens = Math.min(remaining, Math.max(known, atLeast));
    this.bucket = { tokens, burst, perMs, filledAt: now };
  }

  /** The server asks to wait; everyone in this lane does. */
  holdFor(ms: number): void {
    const until = performance.now() + Math.min(ms, LONGEST_HOLD_MS);
    this.blockedUntil = Math.max(this.blockedUntil, until);
    if (this.bucket !== undefined) this.bucket.tokens = Math.min(this.bucket.tokens, 0);
  }

  private turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const go = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        this.waiting.splice(this.waiting.indexOf(go), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.waiting.push(go);
      this.letGo();
    });
  }

  private letGo(): void {
    while (this.waiting.length > 0 && this.underWay < this.roomFor) {
      const waitMs = this.takeOne(performance.now());
      if (waitMs > 0) {
        this.wakeIn(waitMs);
        return;
      }
      this.underWay++;
      this.waiting.shift()?.();
    }
  }

  private get roomFor(): number {
    return this.bucket === undefined ? Math.min(UNTOLD_AT_ONCE, this.maxAtOnce) : this.maxAtOnce;
  }

  /** Takes one and answers 0, or how long there is none. */
  private takeOne(now: number): number {
    if (now < this.blockedUntil) return this.blockedUntil - now;
    const { bucket } = this;
    if (bucket === undefined) return 0;
    bucket.tokens = this.tokensAt(bucket, now);
    bucket.filledAt = now;
    if (bucket.tokens < 1) return (1 - bucket.tokens) / bucket.perMs;
    bucket.tokens--;
    return 0;
  }

  private tokensAt({ tokens, burst, perMs, filledAt }: Bucket, now: number): number {
    return Math.min(burst, tokens + (now - filledAt) * perMs);
  }

  private wakeIn(ms: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.letGo();
    }, Math.ceil(ms));
  }
}
