/**
 * Which bytes of a file or write, and which operations of a disk, a test tries: all with
 * `PERPGATE_EVERY_BYTE=1` (`npm run test:simulator`), otherwise the bytes at both ends, where headers,
 * lengths and checksums are, every seventh between, and every second operation.
 */

const IS_EVERY_BYTE = process.env.PERPGATE_EVERY_BYTE === "1";
const AT_ENDS = 64;
/** Not a divisor of the formats' alignment, so that all offsets within a word are tried. */
const APART = 7;

/** Counts from 1 to `length`. */
export function placesIn(length: number): number[] {
  const all = Array.from({ length }, (_, at) => at + 1);
  if (IS_EVERY_BYTE) return all;
  return all.filter((at) => at <= AT_ENDS || at > length - AT_ENDS || at % APART === 0);
}

/** Operations from 1 to `count`; one fault tries the odd ones and another the even ones. */
export function operationsFor(count: number, fault: number): number[] {
  const all = Array.from({ length: count }, (_, at) => at + 1);
  return IS_EVERY_BYTE ? all : all.filter((at) => at % 2 === fault % 2);
}
