/** How far the stream is known to reach, and how long this gateway has been behind it. */

export class StreamEnd {
  /** The greatest sequence that the stream is known to have. */
  lastSeq = 0;
  private behindSinceMs: number | undefined;
  /** What was applied when the stream was last seen to have more. */
  private appliedWhenBehind: number | undefined;

  learn(lastSeq: number, applied: number): void {
    this.lastSeq = Math.max(this.lastSeq, lastSeq);
    if (this.lastSeq > applied) this.behindSinceMs ??= performance.now();
    else this.behindSinceMs = undefined;
  }

  get lagMs(): number {
    return this.behindSinceMs === undefined ? 0 : performance.now() - this.behindSinceMs;
  }

  /** Whether two polls in a row found more messages and nothing was applied between them. */
  isStuck(lastSeq: number, applied: number): boolean {
    const isBehind = lastSeq > applied;
    const isStuck = isBehind && this.appliedWhenBehind === applied;
    this.appliedWhenBehind = isBehind ? applied : undefined;
    return isStuck;
  }
}
