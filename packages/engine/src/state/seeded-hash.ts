/**
 * A hash for tables whose keys clients choose: HalfSipHash with one round per word and three at the
 * end. Without the seed nobody can choose keys that meet in a table. What is found never depends on
 * the seed, so every process may have another one; snapshots do not contain it.
 */

/** Two whole numbers of 32 bits. */
export type HashSeed = readonly [number, number];

/** For logs that nobody adds to with bad intent: tests, benchmarks. */
export const FIXED_SEED: HashSeed = [0x5bd1_e995, 0x1b87_3593];

export class SeededHash {
  private a = 0;
  private b = 0;
  private c = 0;
  private d = 0;

  constructor(private readonly seed: HashSeed) {}

  begin(): void {
    const [first, second] = this.seed;
    this.a = first | 0;
    this.b = second ^ 0xee;
    this.c = first ^ 0x6c79_6765;
    this.d = second ^ 0x7465_6462;
  }

  /** Adds the low 32 bits of a whole number. */
  add(word: number): void {
    this.d ^= word;
    this.mix();
    this.a ^= word;
  }

  /** A whole number from 1 to 2^52. */
  end(): number {
    this.c ^= 0xee;
    for (let round = 0; round < 3; round++) this.mix();
    const high = this.b ^ this.d;
    this.b ^= 0xdd;
    for (let round = 0; round < 3; round++) this.mix();
    const low = this.b ^ this.d;
    return (high >>> 0) * 1_048_576 + (low >>> 12) + 1;
  }

  private mix(): void {
    let { a, b, c, d } = this;
    a = (a + b) | 0;
    b = ((b << 5) | (b >>> 27)) ^ a;
    a = (a << 16) | (a >>> 16);
    c = (c + d) | 0;
    d = ((d << 8) | (d >>> 24)) ^ c;
    a = (a + d) | 0;
    d = ((d << 7) | (d >>> 25)) ^ a;
    c = (c + b) | 0;
    b = ((b << 13) | (b >>> 19)) ^ c;
    c = (c << 16) | (c >>> 16);
    this.a = a;
    this.b = b;
    this.c = c;
    this.d = d;
  }
}
