/**
 * Seeded randomness for simulated prices: the same seed gives the same sequence everywhere.
 *
 * Not for secrets: sfc32 is small and even, and anyone can run it backwards.
 */

export type UniformSource = () => number;

/** Uniform numbers in [0, 1), a sequence of its own per seed and name. */
export function seededUniform(seed: number, name: string): UniformSource {
  let a = hash32(`${name}/a`, seed);
  let b = hash32(`${name}/b`, seed);
  let c = hash32(`${name}/c`, seed);
  let counter = 1;
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  };
  // The first outputs still resemble the seed.
  for (let round = 0; round < 16; round++) next();
  return next;
}

/** One draw of the standard normal distribution (Box–Muller). */
export function standardNormal(uniform: UniformSource): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
  return radius * Math.cos(2 * Math.PI * uniform());
}

/** FNV-1a, so that markets listed beside each other draw unrelated sequences. */
function hash32(text: string, seed: number): number {
  let hash = 0x811c9dc5 ^ (seed | 0);
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash;
}
