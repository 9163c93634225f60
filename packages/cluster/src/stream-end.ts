/** How far the stream is known to reach, and how long this core has been behind it. */

export class StreamEnd {
  /** The greatest sequence that the stream is known to have. */
  lastSeq = 0;
  private behindSinceMs: number | undefined;

  learn(lastSeq: number, applied: number): void {
    this.lastSeq = Math.max(this.lastSeq, lastSeq);
    if (this.lastSeq > applied) this.behindSinceMs ??= performance.now();
    else this.behindSinceMs = undefined;
  }

  get lagMs(): number {
    return this.behindSinceMs === undefined ? 0 : performance.now() - this.behindSinceMs;
  }
}
