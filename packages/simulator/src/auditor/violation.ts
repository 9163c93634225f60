/** A broken promise of the venue. */

export class Violation extends Error {
  override readonly name = "Violation";
}

export function mustHold(condition: boolean, promise: () => string): asserts condition {
  if (!condition) throw new Violation(promise());
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
