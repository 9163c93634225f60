/**
 * Exact integer arithmetic on JavaScript numbers.
 *
 * Money is micro-dollars, prices are ticks, sizes are lots: every one a safe integer (below 2^53).
 * Products of two of them do not fit a double, so `mulDiv…` carries the product in two doubles
 * (Dekker's exact product) and divides without BigInt for the values of orders. The function's name
 * says how it rounds. A result that is not a safe integer throws `IntegerOverflow`.
 */

export class IntegerOverflow extends RangeError {
  override readonly name = "IntegerOverflow";
}

/** 2^27 + 1 splits a 53-bit integer into two halves whose products are exact. */
const SPLITTER = 134_217_729;
const MAX_SAFE = Number.MAX_SAFE_INTEGER;
/** Above this divisor the remainder might not fit a double; such divisors take the BigInt path. */
const MAX_FAST_DIVISOR = 2 ** 50;

/** Whether a value is a whole number from 0 to 2^53 − 1. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

export function assertSafe(value: number): number {
  if (!(value <= MAX_SAFE && value >= -MAX_SAFE)) {
    throw new IntegerOverflow(`${value} is outside the safe integers`);
  }
  return value;
}

/** a × b, both safe integers; throws if the product is not one. */
export function mulExact(a: number, b: number): number {
  const product = a * b;
  if (!(product <= MAX_SAFE && product >= -MAX_SAFE)) {
    throw new IntegerOverflow(`${a} × ${b} is outside the safe integers`);
  }
  return product;
}

/** floor(x / divisor) for safe integers x ≥ 0, divisor > 0. */
export function divFloor(x: number, divisor: number): number {
  const quotient = Math.floor(x / divisor);
  // The division may have rounded up to the next integer; the product shows it.
  return quotient * divisor > x ? quotient - 1 : quotient;
}

/** ceil(x / divisor) for safe integers x ≥ 0, divisor > 0. */
export function divCeil(x: number, divisor: number): number {
  const floor = divFloor(x, divisor);
  return floor * divisor === x ? floor : floor + 1;
}

/** floor(a × b / divisor), exact, for safe integers a, b ≥ 0 and divisor > 0. */
export function mulDivFloor(a: number, b: number, divisor: number): number {
  const product = a * b;
  if (product <= MAX_SAFE) return divFloor(product, divisor);
  return wideDivide(a, b, divisor, false);
}

/** ceil(a × b / divisor), exact, for safe integers a, b ≥ 0 and divisor > 0. */
export function mulDivCeil(a: number, b: number, divisor: number): number {
  const product = a * b;
  if (product <= MAX_SAFE) return divCeil(product, divisor);
  return wideDivide(a, b, divisor, true);
}

/** a × b / divisor cut toward zero; `a` may be negative. */
export function mulDivTrunc(a: number, b: number, divisor: number): number {
  return a < 0 ? 0 - mulDivFloor(-a, b, divisor) : mulDivFloor(a, b, divisor);
}

function wideDivide(a: number, b: number, divisor: number, up: boolean): number {
  if (divisor >= MAX_FAST_DIVISOR) return bigDivide(a, b, divisor, up);
  const high = a * b;
  let quotient = Math.floor(high / divisor);
  if (!(quotient < MAX_SAFE - 4)) return bigDivide(a, b, divisor, up);
  // remainder = a·b − quotient·divisor, exact: the two leading parts nearly cancel.
  const back = quotient * divisor;
  let remainder = high - back + (productError(a, b, high) - productError(quotient, divisor, back));
  while (remainder < 0) {
    remainder += divisor;
    quotient--;
  }
  while (remainder >= divisor) {
    remainder -= divisor;
    quotient++;
  }
  return up && remainder > 0 ? quotient + 1 : quotient;
}

/** The exact difference between a × b and its rounded product `high`. */
function productError(a: number, b: number, high: number): number {
  const aBig = a * SPLITTER;
  const aHigh = aBig - (aBig - a);
  const aLow = a - aHigh;
  const bBig = b * SPLITTER;
  const bHigh = bBig - (bBig - b);
  const bLow = b - bHigh;
  return aLow * bLow - (high - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}

function bigDivide(a: number, b: number, divisor: number, up: boolean): number {
  const product = BigInt(a) * BigInt(b);
  const d = BigInt(divisor);
  let quotient = product / d;
  if (up && quotient * d !== product) quotient += 1n;
  if (quotient > BigInt(MAX_SAFE)) {
    throw new IntegerOverflow(`${a} × ${b} / ${divisor} is outside the safe integers`);
  }
  return Number(quotient);
}
