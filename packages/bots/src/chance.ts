/**
 * Seeded chance: the same seed and name give the same draws everywhere, in two forms. A `Chance` is
 * a sequence, for decisions that follow one another. `chanceAt` belongs to a place, such as a price
 * level: it is the same whenever that place is looked at, also after a restart.
 *
 * Not for secrets: anyone can run it backwards.
 */

const RANGE = 2 ** 32;

/** A number in [0, 1) that belongs to this key and place. */
export function chanceAt(key: number, place: number): number {
  const low = place >>> 0;
  const high = Math.floor(place / RANGE) | 0;
  return (mix(mix(key ^ low) ^ high ^ 0x9e3779b9) >>> 0) / RANGE;
}

/** A key of its own per seed and name (FNV-1a, then mixed). */
export function chanceKey(seed: number, name: string): number {
  let hash = 0x811c9dc5 ^ (seed | 0);
  for (let i = 0; i < name.length; i++) {
    hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  }
  return mix(hash);
}

export class Chance {
  private readonly key: number;
  private draws = 0;

  constructor(seed: number, name: string) {
    this.key = chanceKey(seed, name);
  }

  /** In [0, 1). */
  uniform(): number {
    const value = chanceAt(this.key, this.draws);
    this.draws++;
    return value;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.uniform();
  }

  /** How long until something happens that happens once in `mean` on average. */
  wait(mean: number): number {
    return -mean * Math.log(1 - this.uniform());
  }

  happens(probability: number): boolean {
    return this.uniform() < probability;
  }
}

/** The finaliser of MurmurHash3: every bit of the input moves every bit of the output. */
function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
