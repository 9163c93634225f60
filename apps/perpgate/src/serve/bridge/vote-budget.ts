/**
 * Limits the votes of each remote attestor that reach the log: far more than an honest one needs for
 * thousands of deposits, far fewer than would fill a disk.
 */

import { TokenBucket, type TokenRate } from "@perpgate/protocol/core";

const DEFAULT_RATE: TokenRate = { perSecond: 200, burst: 5_000 };

export class VoteBudget {
  private readonly buckets = new Map<number, TokenBucket>();

  constructor(
    private readonly rate: TokenRate = DEFAULT_RATE,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

  /** Returns whether the attestor may add another vote. */
  take(attestor: number): boolean {
    let bucket = this.buckets.get(attestor);
    if (bucket === undefined) {
      bucket = new TokenBucket(this.rate);
      this.buckets.set(attestor, bucket);
    }
    return bucket.take(this.monotonic());
  }
}
