/**
 * A FIFO queue of requests that stays within one limit of the server: a maximum in flight, and the
 * server's rate.
 *
 * Until the server has announced its limit, few requests are in flight. After that the pacer mirrors
 * the server's token bucket. The mirror is inexact by the requests in flight: the server may have
 * counted them before or after it made the response. Its tokens therefore stay between `remaining` of
 * the last response and `remaining` minus the requests in flight.
 */

import { TokenBucket } from "@perpgate/protocol/core";
import type { LimitState } from "./limit-headers.js";

/** Maximum in flight while the limit is unknown: within any limit of a gateway. */
const IN_FLIGHT_UNKNOWN_LIMIT = 16;
/** A longer Retry-After is cut to this. */
const LONGEST_HOLD_MS = 30_000;

export class Pacer {
  private readonly waiting: (() => void)[] = [];
  private inFlight = 0;
  private bucket: TokenBucket | undefined;
  private blockedUntil = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly maxInFlight: number) {}

  /** Runs `send` when it is first in the queue and the limit permits. Rejects if aborted before. */
  async run<T>(signal: AbortSignal | undefined, send: () => Promise<T>): Promise<T> {
    await this.turn(signal);
    try {
      return await send();
    } finally {
      this.inFlight--;
      this.sendWaiting();
    }
  }

  /** Updates the bucket from a response. */
  learn({ burst, perSecond, remaining }: LimitState): void {
    const now = performance.now();
    // The request of this response is still counted as in flight.
    const atLeast = Math.max(0, remaining - (this.inFlight - 1));
    const known = this.bucket?.at(now) ?? remaining;
    const tokens = Math.min(remaining, Math.max(known, atLeast));
    this.bucket = new TokenBucket({ perSecond, burst }, tokens);
    this.bucket.at(now);
  }

  /** Sends nothing for `ms`: the server requested it. */
  holdFor(ms: number): void {
    const until = performance.now() + Math.min(ms, LONGEST_HOLD_MS);
    this.blockedUntil = Math.max(this.blockedUntil, until);
    this.bucket?.empty();
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
      this.sendWaiting();
    });
  }

  private sendWaiting(): void {
    while (this.waiting.length > 0 && this.inFlight < this.limitInFlight) {
      const waitMs = this.takeOne(performance.now());
      if (waitMs > 0) {
        this.wakeAfter(waitMs);
        return;
      }
      this.inFlight++;
      this.waiting.shift()?.();
    }
  }

  private get limitInFlight(): number {
    return this.bucket === undefined
      ? Math.min(IN_FLIGHT_UNKNOWN_LIMIT, this.maxInFlight)
      : this.maxInFlight;
  }

  /** Takes a token and returns 0, or returns the milliseconds until there is one. */
  private takeOne(now: number): number {
    if (now < this.blockedUntil) return this.blockedUntil - now;
    return this.bucket?.takeOrWait(now) ?? 0;
  }

  private wakeAfter(ms: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.sendWaiting();
    }, Math.ceil(ms));
  }
}
