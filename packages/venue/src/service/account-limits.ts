/** The rate limits by account, which hold for all edges of a core together. */

import type { Notes, NotesInMaking } from "@perpgate/link";
import { type BucketState, rateLimitedError, TokenBuckets } from "@perpgate/protocol/token-buckets";

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

/**
 * Work units that count as another order or cancel. At 100 orders a second an account that sends nothing
 * but expensive ones takes 8 ms of the engine a second; a taker that meets twenty makers pays one more.
 */
const UNITS_PER_TOKEN = 80;

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

  /** Counts some, all or none, and notes what remains. @throws ApiError `rate_limited` */
  take(account: number, notes: NotesInMaking, count = 1): void {
    this.enforce(this.buckets.take(account, this.monotonic(), count), notes);
  }

  /** Throws if `take` would, without counting. */
  refuseIfFewer(account: number, count: number, notes: NotesInMaking): void {
    const state = this.buckets.peek(account, this.monotonic(), count);
    if (!state.isAllowed) this.enforce(state, notes);
  }

  /**
   * Counts and notes the work units of a command that was executed. More than its bucket holds becomes a debt,
   * all of it: a whole burst may be executed before the first of it is counted.
   */
  countWork(account: number, units: number, notes: NotesInMaking): void {
    notes.work += units;
    const tokens = Math.floor(units / UNITS_PER_TOKEN);
    if (tokens === 0) return;
    this.buckets.charge(account, tokens, Number.POSITIVE_INFINITY, this.monotonic());
  }

  private enforce(state: BucketState, notes: NotesInMaking): void {
    const { limit, quota, windowSeconds } = this;
    const fullInSeconds = Math.ceil(state.fullInMs / 1_000);
    notes.counted = { limit, quota, windowSeconds, remaining: state.remaining, fullInSeconds };
    if (!state.isAllowed) throw rateLimitedError(limit, state.retryAfterMs);
  }
}
