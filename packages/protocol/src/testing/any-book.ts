/** Arbitrary book sides for property tests, and bytes with some of them changed. */

import fc from "fast-check";
import type { BookSide, Level } from "../book-codec/index.js";
import type { Random } from "../numbers/random.js";

const MAX = Number.MAX_SAFE_INTEGER;
const lots = fc.oneof(
  fc.constant(0),
  fc.nat(20),
  fc.nat(2_000_000),
  fc.tuple(fc.nat(99), fc.nat(13)).map(([digits, zeros]) => digits * 10 ** zeros),
  fc.maxSafeNat(),
  fc.constantFrom(MAX, MAX - 1, 2 ** 32, 2 ** 31),
);
const gap = fc.oneof(
  { weight: 3, arbitrary: fc.constant(1) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 40 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 ** 31 - 1 }) },
);

/** Levels of a side, best first, from no level to a hundred. */
export function anySide(side: BookSide): fc.Arbitrary<Level[]> {
  return fc.array(fc.tuple(gap, lots), { maxLength: 100 }).map((steps) => {
    let tick = 0;
    const rising = steps.map(([ticks, size]): Level => {
      tick += ticks;
      return [tick, size];
    });
    return side === "ask" ? rising : rising.reverse();
  });
}

export function shuffledBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const changed = bytes.slice();
  for (let i = 1 + random.below(3); i > 0; i--) {
    changed[random.below(changed.length)] = random.below(256);
  }
  return changed;
}
