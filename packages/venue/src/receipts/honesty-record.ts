/** How receipts were kept, counted from the log: the venue and `verify` use this same class. */

export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Counts whole milliseconds; all above ten seconds count as the longest of them. */
export class MillisecondCounts {
  private readonly counts = new Float64Array(10_001);
  private total = 0;
  private max = 0;

  add(ms: number): void {
    const whole = Math.max(0, Math.round(ms));
    this.counts[Math.min(whole, this.counts.length - 1)]!++;
    this.total++;
    this.max = Math.max(this.max, whole);
  }

  /** Null without any. */
  quantiles(): Quantiles | null {
    if (this.total === 0) return null;
    return { p50: this.at(0.5), p99: this.at(0.99), max: this.max };
  }

  private at(part: number): number {
    let left = Math.ceil(part * this.total);
    for (let ms = 0; ms < this.counts.length - 1; ms++) {
      left -= this.counts[ms]!;
      if (left <= 0) return ms;
    }
    return this.max;
  }
}

export class HonestyRecord {
  /** Acknowledgements in sealed blocks: each had a receipt. */
  sealed = 0;
  /** Of these, those in another block than their receipt says. */
  notKept = 0;
  /** Log time of the first; null before it. */
  since: number | null = null;
  readonly sealedMs = new MillisecondCounts();

  onSealed(ackTimeMs: number, expectedBlock: number, number: number, blockTimeMs: number): void {
    this.since ??= ackTimeMs;
    this.sealed++;
    if (expectedBlock !== number) this.notKept++;
    this.sealedMs.add(blockTimeMs - ackTimeMs);
  }
}
