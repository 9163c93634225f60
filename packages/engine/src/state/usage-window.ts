/**
 * Money by key that counts for a while: time in parts of one width, of which the present one and those before
 * it count. Whatever the moment, at least (parts − 1) × width is covered. A part that counts no longer is
 * removed when something is added; until then it makes no difference, in snapshots neither.
 */

export class UsageWindow {
  private readonly parts = new Map<number, Map<number, number>>();

  constructor(
    private readonly widthMs: number,
    private readonly count: number,
  ) {}

  used(key: number, timeMs: number): number {
    let used = 0;
    for (const [part, byKey] of this.parts) {
      if (this.counts(part, timeMs)) used += byKey.get(key) ?? 0;
    }
    return used;
  }

  /** When the amount fits below the cap, if nothing is added: now, later, or never (Infinity). */
  fitsAt(key: number, amount: number, cap: number, timeMs: number): number {
    if (amount > cap) return Number.POSITIVE_INFINITY;
    let excess = this.used(key, timeMs) + amount - cap;
    if (excess <= 0) return timeMs;
    for (const part of this.live(timeMs)) {
      excess -= this.parts.get(part)?.get(key) ?? 0;
      if (excess <= 0) return (part + this.count) * this.widthMs;
    }
    return Number.POSITIVE_INFINITY;
  }

  add(key: number, amount: number, timeMs: number): void {
    for (const part of this.parts.keys()) {
      if (!this.counts(part, timeMs)) this.parts.delete(part);
    }
    this.set(this.partOf(timeMs), key, amount);
  }

  /** Part, key and amount, each, of what counts at that time, ascending. */
  words(timeMs: number): number[] {
    return this.live(timeMs).flatMap((part) => {
      const byKey = [...(this.parts.get(part) ?? [])].sort(([a], [b]) => a - b);
      return byKey.flatMap(([key, amount]) => [part, key, amount]);
    });
  }

  restore(words: readonly number[]): void {
    for (let at = 0; at + 2 < words.length; at += 3) {
      this.set(words[at]!, words[at + 1]!, words[at + 2]!);
    }
  }

  private set(part: number, key: number, amount: number): void {
    const byKey = this.parts.get(part) ?? new Map<number, number>();
    byKey.set(key, (byKey.get(key) ?? 0) + amount);
    this.parts.set(part, byKey);
  }

  private partOf(timeMs: number): number {
    return Math.floor(timeMs / this.widthMs);
  }

  private counts(part: number, timeMs: number): boolean {
    return part + this.count > this.partOf(timeMs);
  }

  private live(timeMs: number): number[] {
    return [...this.parts.keys()].filter((part) => this.counts(part, timeMs)).sort((a, b) => a - b);
  }
}
