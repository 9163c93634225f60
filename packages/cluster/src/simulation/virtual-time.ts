/** The time and the dice of a simulated cluster. */

interface Due {
  readonly atMs: number;
  readonly run: () => void;
}

/** What is due runs in order of its time, then of its scheduling. */
export class VirtualTime {
  nowMs = 0;
  /** The next one last. */
  private readonly due: Due[] = [];

  after(ms: number, run: () => void): void {
    const atMs = this.nowMs + Math.max(0, ms);
    let [low, high] = [0, this.due.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.due[middle]!.atMs > atMs) low = middle + 1;
      else high = middle;
    }
    this.due.splice(low, 0, { atMs, run });
  }

  runFor(ms: number): void {
    const untilMs = this.nowMs + ms;
    for (;;) {
      const next = this.due.at(-1);
      if (next === undefined || next.atMs > untilMs) break;
      this.due.pop();
      this.nowMs = next.atMs;
      next.run();
    }
    this.nowMs = untilMs;
  }
}

/** Seeded; the generator is mulberry32. */
export class Dice {
  constructor(private state: number) {}

  /** 0 … n − 1. */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(share: number): boolean {
    return share > 0 && this.next() < share;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  private next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}
