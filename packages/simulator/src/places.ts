/**
 * Which bytes of a file or write, and which operations of a disk, a test tries: all with
 * `PERPGATE_EVERY_BYTE=1` (`npm test -- --long simulator`), otherwise the bytes at both ends, where headers,
 * lengths and checksums are, some between, and every sixth operation.
 */

const IS_EVERY_BYTE = process.env.PERPGATE_EVERY_BYTE === "1";
/** How many bytes at each end, and the distance of those between. */
interface Spread {
  readonly atEnds: number;
  /** Not a divisor of the formats' alignment, so that all offsets within a word are tried. */
  readonly apart: number;
}

/** Each byte may be one of another field. */
export const OF_FILE: Spread = { atEnds: 64, apart: 7 };
/** A batch's header is 56 bytes; whichever byte after it is the last one written, the batch is lost. */
export const OF_WRITE: Spread = { atEnds: 64, apart: 29 };

/** Counts from 1 to `length`. */
export function placesIn(length: number, { atEnds, apart }: Spread): number[] {
  const all = Array.from({ length }, (_, at) => at + 1);
  if (IS_EVERY_BYTE) return all;
  return all.filter((at) => at <= atEnds || at > length - atEnds || at % apart === 0);
}

/** Operations from 1 to `count`; of six faults each tries another sixth. */
export function operationsFor(count: number, fault: number): number[] {
  const all = Array.from({ length: count }, (_, at) => at + 1);
  return IS_EVERY_BYTE ? all : all.filter((at) => at % 6 === fault % 6);
}

/** Between two sizes of a disk that becomes full. */
export const FREE_BYTES_APART = IS_EVERY_BYTE ? 100 : 600;

/** Of pairs of operations every second one: each operation is tried, with others of both kinds. */
export function isTriedPair(first: number, second: number): boolean {
  return IS_EVERY_BYTE || (first + second) % 2 === 0;
}
