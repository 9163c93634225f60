/**
 * How many votes of each attestor elsewhere may reach the log: far more than an honest one has to
 * say about thousands of deposits, far fewer than would fill a disk.
 */

const PER_SECOND = 200;
const BURST = 5_000;

export class VoteBudget {
  private readonly accounts = new Map<number, { left: number; atMs: number }>();

  constructor(private readonly monotonic: () => number = () => performance.now()) {}

  hasRoom(attestor: number): boolean {
    return this.refilled(attestor).left >= 1;
  }

  take(attestor: number): void {
    this.refilled(attestor).left--;
  }

  private refilled(attestor: number): { left: number } {
    const nowMs = this.monotonic();
    let account = this.accounts.get(attestor);
    if (account === undefined) {
      account = { left: BURST, atMs: nowMs };
      this.accounts.set(attestor, account);
    }
    account.left = Math.min(BURST, account.left + ((nowMs - account.atMs) / 1_000) * PER_SECOND);
    account.atMs = nowMs;
    return account;
  }
}
