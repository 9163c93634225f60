/** The rate limits by account, which hold for all edges of a core together. */

import type { Notes, NotesInMaking } from "@perpgate/link";
import { rateLimitedError, TokenBuckets } from "@perpgate/protocol/token-buckets";

export interface AccountLimitSettings {
  readonly ordersPerSecond: number;
  readonly ordersBurst: number;
  /** Separate from orders, so that orders cannot use up the cancels. */
  readonly cancelsPerSecond: number;
  readonly cancelsBurst: number;
  /** Reads with a token. */
  readonly accountReadsPerSecond: number;
  readonly accountReadsBurst: number;
  readonly depositsPerMinute: number;
  /** Open deposits per account that no attestor has seen on their chain. */
  readonly unseenDeposits: number;
}

type LimitName = NonNullable<Notes["counted"]>["limit"];

export class AccountLimit {
  private readonly buckets: TokenBuckets<number>;
  private readonly windowSeconds: number;

  constructor(
    private readonly limit: LimitName,
    perSecond: number,
    private readonly quota: number,
    /** Milliseconds of a clock that never steps back. */
    private readonly monotonic: () => number = () => performance.now(),
  ) {
    this.buckets = new TokenBuckets({ name: limit, perSecond, burst: quota });
    this.windowSeconds = Math.max(1, Math.ceil(quota / perSecond));
  }

  /** Counts one and notes what remains. @throws ApiError `rate_limited` above the limit. */
  take(account: number, notes: NotesInMaking): void {
    const state = this.buckets.take(account, this.monotonic());
    const { limit, quota, windowSeconds } = this;
    const fullInSeconds = Math.ceil(state.fullInMs / 1_000);
    notes.counted = { limit, quota, windowSeconds, remaining: state.remaining, fullInSeconds };
    if (!state.isAllowed) throw rateLimitedError(limit, state.retryAfterMs);
  }
}
