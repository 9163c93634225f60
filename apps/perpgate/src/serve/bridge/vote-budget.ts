/**
 * Limits the votes of each remote attestor that reach the log: far more than an honest one needs for
 * thousands of deposits, far fewer than would fill a disk.
 */

export interface VoteRate {
  readonly perSecond: number;
  readonly burst: number;
}

const DEFAULT_RATE: VoteRate = { perSecond: 200, burst: 5_000 };

export class VoteBudget {
  private readonly accounts = new Map<number, { left: number; atMs: number }>();

  constructor(
    private readonly rate: VoteRate = DEFAULT_RATE,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

  /** Returns whether the attestor may add another vote. */
  take(attestor: number): boolean {
    const { perSecond, burst } = this.rate;
    const nowMs = this.monotonic();
    const account = this.accounts.get(attestor) ?? { left: burst, atMs: nowMs };
    this.accounts.set(attestor, account);
    account.left = Math.min(burst, account.left + ((nowMs - account.atMs) / 1_000) * perSecond);
    account.atMs = nowMs;
    if (account.left < 1) return false;
    account.left--;
    return true;
  }
}
