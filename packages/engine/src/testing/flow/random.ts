/**
 * A small seeded generator (splitmix32): the same seed gives the same stream on every machine.
 */
export class Rng {
  private state: number;

  constructor(seed: number, stream = "") {
    this.state = seed >>> 0;
    for (const letter of stream)
      this.state = Math.imul(this.state ^ letter.charCodeAt(0), 16777619);
  }

  /** 32 bits. */
  next(): number {
    this.state = (this.state + 0x9e3779b9) | 0;
    let z = this.state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  }

  /** 0 ≤ x < 1. */
  float(): number {
    return this.next() / 2 ** 32;
  }

  /** A whole number, both ends included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.float() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.float() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.int(0, items.length - 1)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }

  /** One of the keys, each as likely as its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries<number>(weights);
    let left = this.float() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0 && isKey(weights, key)) return key;
    }
    throw new Error("weights must be positive");
  }

  hex(digits: number): string {
    let text = "";
    while (text.length < digits) text += this.next().toString(16).padStart(8, "0");
    return text.slice(0, digits);
  }
}

function isKey<K extends string>(record: Readonly<Record<K, number>>, key: string): key is K {
  return key in record;
}
