/** A token bucket: a budget of actions per second, of which at most `burst` accumulate. */

export class ActionBudget {
  private tokens: number;
  private filledAtMs: number | undefined;

  constructor(
    private readonly perSecond: number,
    private readonly burst: number,
  ) {
    this.tokens = burst;
  }

  /** Whole actions that may be taken now. */
  available(nowMs: number): number {
    const elapsedMs = Math.max(0, nowMs - (this.filledAtMs ?? nowMs));
    this.filledAtMs = nowMs;
    this.tokens = Math.min(this.burst, this.tokens + (elapsedMs / 1_000) * this.perSecond);
    return Math.max(0, Math.floor(this.tokens));
  }

  spend(actions: number): void {
    this.tokens -= actions;
  }

  /** Spends one if there is one; returns whether there was. */
  take(nowMs: number): boolean {
    if (this.available(nowMs) < 1) return false;
    this.spend(1);
    return true;
  }
}
