/**
 * A token bucket: tokens accumulate at a rate, up to a burst. Times are passed in, in milliseconds of
 * any clock; a clock that steps back adds nothing.
 *
 * The gateway keeps one number per client instead (`TokenBuckets`), because it has many clients.
 */

export interface TokenRate {
  readonly perSecond: number;
  readonly burst: number;
}

export class TokenBucket {
  private tokens: number;
  private filledAtMs: number | undefined;

  constructor(
    private readonly rate: TokenRate,
    tokens = rate.burst,
  ) {
    this.tokens = tokens;
  }

  /** The tokens at this time, fractions included; negative after more was spent than there was. */
  at(nowMs: number): number {
    const elapsedMs = Math.max(0, nowMs - (this.filledAtMs ?? nowMs));
    this.filledAtMs = nowMs;
    const { perSecond, burst } = this.rate;
    this.tokens = Math.min(burst, this.tokens + (elapsedMs / 1_000) * perSecond);
    return this.tokens;
  }

  /** Whole tokens at this time. */
  available(nowMs: number): number {
    return Math.max(0, Math.floor(this.at(nowMs)));
  }

  spend(tokens: number): void {
    this.tokens -= tokens;
  }

  /** Takes a token and returns 0, or returns the milliseconds until there is one. */
  takeOrWait(nowMs: number): number {
    const tokens = this.at(nowMs);
    if (tokens < 1) return ((1 - tokens) / this.rate.perSecond) * 1_000;
    this.tokens--;
    return 0;
  }

  /** Takes a token if there is one; returns whether there was. */
  take(nowMs: number): boolean {
    return this.takeOrWait(nowMs) === 0;
  }

  /** Removes all tokens; a debt stays. */
  empty(): void {
    this.tokens = Math.min(this.tokens, 0);
  }
}
