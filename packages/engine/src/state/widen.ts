/** Copies an array into a longer one; returns that. */
export function widen<T extends Float64Array | Int32Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
