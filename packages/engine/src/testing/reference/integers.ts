/**
 * Whole-number arithmetic of the rule book ("Units": ⌊ ⌋, ⌈ ⌉ and trunc, every product exact).
 * Everything is BigInt, so no product can lose a digit; figures become numbers only in events.
 */

export function floorDiv(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const exact = quotient * denominator === numerator;
  return exact || numerator < 0n === denominator < 0n ? quotient : quotient - 1n;
}

export function ceilDiv(numerator: bigint, denominator: bigint): bigint {
  return -floorDiv(-numerator, denominator);
}

/** BigInt division already truncates; the name says that the rule wants exactly that. */
export function truncDiv(numerator: bigint, denominator: bigint): bigint {
  return numerator / denominator;
}

export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

export function abs(a: bigint): bigint {
  return a < 0n ? -a : a;
}

export function clamp(value: bigint, low: bigint, high: bigint): bigint {
  return max(low, min(value, high));
}

export function median(a: bigint, b: bigint, c: bigint): bigint {
  return max(min(a, b), min(max(a, b), c));
}

/** A figure on its way into an event. The reference does not halt markets: it throws instead. */
export function num(value: bigint): number {
  const result = Number(value);
  if (!Number.isSafeInteger(result)) throw new Error(`overflow: ${value} is not a safe integer`);
  return result;
}
