/** A budget of actions per second. What is not used is kept for a moment, not for ever. */

export class Pace {
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

  /** Takes one, if there is one. */
  take(nowMs: number): boolean {
    if (this.available(nowMs) < 1) return false;
    this.spend(1);
    return true;
  }
}
