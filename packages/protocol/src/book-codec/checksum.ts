/**
 * The checksum of a whole book: Σ mix32(side, tick, lots) mod 2^32 over its levels.
 *
 * A sum does not depend on order, so a change of a level subtracts the old term and adds the new one,
 * and both ends of a stream compare one number. It detects accidents (missed, repeated or misapplied
 * levels), not an attacker who chooses levels to collide.
 *
 * `mix32` takes four 32-bit words, each xored into the hash and scrambled by a bijection of 32 bits
 * (two multiplications and three xor-shifts, constants of the `lowbias32` family). So two sizes below
 * 2^32 at one price, and one size at two prices below 2^32, never have the same term: one level with
 * a wrong size or price always shows.
 */

import type { BookSide } from "./layout.js";

const BID_SEED = 0x9e37_79b9;
const ASK_SEED = 0x85eb_ca6b;
const TWO_TO_32 = 2 ** 32;

/** Ticks and lots are safe integers; the bits above 32 are a separate word. */
export function mix32(side: BookSide, tick: number, lots: number): number {
  let hash = side === "bid" ? BID_SEED : ASK_SEED;
  hash = scramble(hash ^ Math.floor(tick / TWO_TO_32));
  hash = scramble(hash ^ (tick >>> 0));
  hash = scramble(hash ^ Math.floor(lots / TWO_TO_32));
  hash = scramble(hash ^ (lots >>> 0));
  return hash >>> 0;
}

function scramble(word: number): number {
  let x = word ^ (word >>> 16);
  x = Math.imul(x, 0x21f0_aaad);
  x ^= x >>> 15;
  x = Math.imul(x, 0x735a_2d97);
  return x ^ (x >>> 15);
}

export class BookChecksum {
  private sum = 0;

  /** Unsigned, 32 bits; 0 for an empty book. */
  get value(): number {
    return this.sum;
  }

  /** A level went from `oldLots` to `newLots`; 0 is a level that is not there. */
  set(side: BookSide, tick: number, oldLots: number, newLots: number): void {
    if (oldLots === newLots) return;
    const gone = oldLots === 0 ? 0 : mix32(side, tick, oldLots);
    const come = newLots === 0 ? 0 : mix32(side, tick, newLots);
    this.sum = (this.sum - gone + come) >>> 0;
  }

  clear(): void {
    this.sum = 0;
  }
}
