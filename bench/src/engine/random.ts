/** A small seeded generator (splitmix32), so that every contestant gets the same operations. */
export class Random {
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
}
