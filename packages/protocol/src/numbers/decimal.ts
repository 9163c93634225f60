/**
 * Exact decimals behind JSON numbers.
 *
 * A finite double becomes the decimal that was written for it, as an integer and a power of ten, taken
 * from the shortest text that reads back as the same double. 0.1 is one tenth, not the binary fraction
 * next to it.
 */

/** `digits × 10^-scale`, with no trailing zero in `digits` unless the value is zero. */
interface Decimal {
  readonly digits: bigint;
  /** Negative for values with trailing zeros: 1200 is 12 × 10^2. */
  readonly scale: number;
}

export function decimalOf(value: number): Decimal {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a finite number`);
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  let digits = BigInt(whole + fraction);
  let scale = fraction.length - Number(exponent);
  if (digits === 0n) return { digits: 0n, scale: 0 };
  while (digits % 10n === 0n) {
    digits /= 10n;
    scale--;
  }
  return { digits, scale };
}

export function powerOfTen(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

/** The two values over one common scale, so that they compare and divide as integers. */
export function alignDecimals(a: Decimal, b: Decimal): [bigint, bigint] {
  const scale = Math.max(a.scale, b.scale);
  return [a.digits * powerOfTen(scale - a.scale), b.digits * powerOfTen(scale - b.scale)];
}
