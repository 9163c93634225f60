/**
 * Seeded pseudo-random numbers: the same seed and name give the same sequence on every machine.
 * The simulated index, the bots, the test flows and the benchmarks all use this file.
 *
 * `Random` is sfc32: 128 bits of state and a handful of 32-bit integer operations, which JavaScript
 * computes exactly. It passes the usual statistical batteries, and unlike generators of 32 bits of
 * state its named sequences are not sections of one short cycle. Not for secrets: the state can be
 * computed from the output.
 */

const RANGE = 2 ** 32;

export class Random {
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;

  /** Sequences of different names are unrelated, also for the same seed. */
  constructor(seed: number, name = "") {
    this.a = fnv1a(seed, `${name}/a`);
    this.b = fnv1a(seed, `${name}/b`);
    this.c = fnv1a(seed, `${name}/c`);
    // The first outputs still resemble the seed.
    for (let round = 0; round < 16; round++) this.uint32();
  }

  uint32(): number {
    const sum = (((this.a + this.b) | 0) + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** 0 ≤ x < 1. */
  next(): number {
    return this.uint32() / RANGE;
  }

  /** low ≤ x < high. */
  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** A whole number, 0 ≤ n < bound. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** A whole number, low ≤ n ≤ high. */
  int(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError("nothing to pick from");
    return items[this.below(items.length)]!;
  }

  /** One of the keys, with a probability proportional to its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries<number>(weights);
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0 && isKey(weights, key)) return key;
    }
    throw new RangeError("weights must be positive");
  }

  /** Waiting time until an event that happens once in `mean` on average. */
  exponential(mean = 1): number {
    return -mean * Math.log(1 - this.next());
  }

  /** The standard normal distribution (Box–Muller). */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }

  /** Half of the values are below `median`; e^sigma is the typical factor between them. */
  logNormal(median: number, sigma: number): number {
    return median * Math.exp(sigma * this.normal());
  }

  bytes(length: number): Uint8Array {
    const words = new Uint32Array(Math.ceil(length / 4));
    for (let i = 0; i < words.length; i++) words[i] = this.uint32();
    return new Uint8Array(words.buffer, 0, length);
  }

  hex(digits: number): string {
    let text = "";
    while (text.length < digits) text += this.uint32().toString(16).padStart(8, "0");
    return text.slice(0, digits);
  }
}

/** A key for `randomAt`, different for each seed and name. */
export function randomKey(seed: number, name: string): number {
  return mix(fnv1a(seed, name));
}

/**
 * 0 ≤ x < 1, a function of key and place alone. For values that belong to a place, such as a price
 * level, and must be the same at every look and after a restart.
 */
export function randomAt(key: number, place: number): number {
  const low = place >>> 0;
  const high = Math.floor(place / RANGE) | 0;
  return (mix(mix(key ^ low) ^ high ^ 0x9e3779b9) >>> 0) / RANGE;
}

/** FNV-1a with the seed in its offset. */
function fnv1a(seed: number, text: string): number {
  let hash = 0x811c9dc5 ^ (seed | 0);
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash;
}

/** The finaliser of MurmurHash3: every bit of the input changes every bit of the output. */
function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function isKey<K extends string>(record: Readonly<Record<K, number>>, key: string): key is K {
  return Object.hasOwn(record, key);
}
