/** Seeded chance for samples and tests (splitmix32): the same seed, the same numbers, everywhere. */
export class Chance {
  constructor(private state: number) {}

  /** 0 ≤ x < 1. */
  next(): number {
    this.state = (this.state + 0x9e37_79b9) | 0;
    let x = this.state ^ (this.state >>> 16);
    x = Math.imul(x, 0x21f0_aaad);
    x ^= x >>> 15;
    x = Math.imul(x, 0x735a_2d97);
    return ((x ^ (x >>> 15)) >>> 0) / 4_294_967_296;
  }

  /** 0 ≤ n < bound. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  exponential(): number {
    return -Math.log(1 - this.next());
  }

  /** Half of the values lie below `median`; e^sigma is the typical factor between them. */
  logNormal(median: number, sigma: number): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return median * Math.exp(sigma * radius * Math.cos(2 * Math.PI * this.next()));
  }
}
