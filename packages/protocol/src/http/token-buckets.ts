/**
 * Token buckets, one per key: a rate per second and a burst.
 *
 * A bucket is one number, the time at which it will be full (the "theoretical arrival time" of the
 * generic cell rate algorithm). A full bucket needs no entry: sweeps remove such entries, two per call on
 * average and without timers. At `maxKeys` the oldest entry is removed, which resets its bucket to full.
 * Times are passed in and may come from any clock that does not step back.
 */

import { ApiError } from "../errors/error.js";

export interface BucketRule {
  /** Shown to clients in headers. */
  readonly name: string;
  readonly perSecond: number;
  /** Capacity of the bucket. */
  readonly burst: number;
}

export interface BucketState {
  readonly isAllowed: boolean;
  /** Tokens left. */
  readonly remaining: number;
  /** Milliseconds until there are as many tokens as were asked for. */
  readonly retryAfterMs: number;
  /** Milliseconds until the bucket is full. */
  readonly fullInMs: number;
}

/** Tolerance for the rounding error of sums of intervals. */
const NOISE_MS = 0.001;
const DEFAULT_MAX_KEYS = 100_000;
const CALLS_PER_SWEEP = 16;
const ENTRIES_PER_SWEEP = 32;

export class TokenBuckets<Key extends string | number> {
  readonly rule: BucketRule;
  /** Key → time at which its bucket is full. */
  private readonly fullAt = new Map<Key, number>();
  private calls = 0;
  private sweep: Iterator<[Key, number]> | undefined;
  private readonly intervalMs: number;
  private readonly capacityMs: number;

  constructor(
    rule: BucketRule,
    private readonly maxKeys = DEFAULT_MAX_KEYS,
  ) {
    if (!(rule.perSecond > 0) || !(rule.burst >= 1)) {
      throw new RangeError(`limit ${rule.name}: rate above 0 and burst of at least 1 expected`);
    }
    this.rule = rule;
    this.intervalMs = 1_000 / rule.perSecond;
    this.capacityMs = this.intervalMs * rule.burst;
  }

  /** Number of entries. */
  get size(): number {
    return this.fullAt.size;
  }

  /** Takes `count` tokens if there are as many; otherwise none. */
  take(key: Key, nowMs: number, count = 1): BucketState {
    this.removeFull(nowMs);
    const fullAt = Math.max(this.fullAt.get(key) ?? nowMs, nowMs);
    const next = fullAt + this.intervalMs * count;
    if (next - nowMs > this.capacityMs + NOISE_MS) return this.stateAt(fullAt, nowMs, false, count);
    if (!this.fullAt.has(key) && this.fullAt.size >= this.maxKeys) this.removeOldest();
    this.fullAt.set(key, next);
    return this.stateAt(next, nowMs, true);
  }

  /** What `take` would return, without taking. */
  peek(key: Key, nowMs: number, count = 1): BucketState {
    const fullAt = Math.max(this.fullAt.get(key) ?? nowMs, nowMs);
    const isAllowed = fullAt + this.intervalMs * count - nowMs <= this.capacityMs + NOISE_MS;
    return this.stateAt(fullAt, nowMs, isAllowed, count);
  }

  /**
   * Takes `amount` even if there are fewer tokens; the debt is at most `maxDebt` and repaid by time.
   * Returns what was taken.
   */
  charge(key: Key, amount: number, maxDebt: number, nowMs: number): number {
    this.removeFull(nowMs);
    const fullAt = this.fullAt.get(key);
    if (fullAt === undefined && this.fullAt.size >= this.maxKeys) this.removeOldest();
    const latest = nowMs + this.capacityMs + maxDebt * this.intervalMs;
    const from = Math.max(fullAt ?? nowMs, nowMs);
    const next = Math.min(from + amount * this.intervalMs, latest);
    this.fullAt.set(key, next);
    return (next - from) / this.intervalMs;
  }

  /** Gives back what `take` or `charge` has taken. */
  refund(key: Key, amount: number): void {
    const fullAt = this.fullAt.get(key);
    if (fullAt !== undefined) this.fullAt.set(key, fullAt - amount * this.intervalMs);
  }

  /** Milliseconds until the debt of `charge` is repaid; 0 without debt. */
  debtMs(key: Key, nowMs: number): number {
    const fullAt = this.fullAt.get(key);
    return fullAt === undefined ? 0 : Math.max(0, fullAt - nowMs - this.capacityMs);
  }

  private stateAt(fullAt: number, nowMs: number, isAllowed: boolean, count = 1): BucketState {
    const fullInMs = fullAt - nowMs;
    const free = this.capacityMs - fullInMs;
    return {
      isAllowed,
      remaining: Math.max(0, Math.floor((free + NOISE_MS) / this.intervalMs)),
      retryAfterMs: Math.max(0, this.intervalMs * count - free),
      fullInMs,
    };
  }

  private removeFull(nowMs: number): void {
    this.calls = (this.calls + 1) % CALLS_PER_SWEEP;
    if (this.calls !== 0) return;
    for (let i = 0; i < ENTRIES_PER_SWEEP; i++) {
      this.sweep ??= this.fullAt.entries();
      const { done, value } = this.sweep.next();
      if (done === true) {
        this.sweep = undefined;
        return;
      }
      if (value[1] <= nowMs) this.fullAt.delete(value[0]);
    }
  }

  private removeOldest(): void {
    for (const key of this.fullAt.keys()) {
      this.fullAt.delete(key);
      return;
    }
  }
}

/** The error of an exceeded limit. */
export function rateLimitedError(limit: string, retryAfterMs: number): ApiError {
  const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  const details = { limit, retryAfterMs: Math.ceil(retryAfterMs) };
  return new ApiError("rate_limited", { retryAfterSeconds }, { details });
}
