/**
 * Arrays of the state's tables. The large ones are over SharedArrayBuffers, although nothing shares
 * them: V8 counts the bytes of an ArrayBuffer as pressure on its heap, and may answer the growth of a
 * table with a full garbage collection, which takes longer than everything that a command does.
 */

/** Shorter arrays are not worth a buffer of their own. */
const LARGE_BYTES = 1 << 16;

export function float64(length: number): Float64Array {
  const bytes = length * 8;
  return bytes < LARGE_BYTES
    ? new Float64Array(length)
    : new Float64Array(new SharedArrayBuffer(bytes));
}

export function int32(length: number): Int32Array {
  const bytes = length * 4;
  return bytes < LARGE_BYTES
    ? new Int32Array(length)
    : new Int32Array(new SharedArrayBuffer(bytes));
}

export function uint8(length: number): Uint8Array {
  return length < LARGE_BYTES
    ? new Uint8Array(length)
    : new Uint8Array(new SharedArrayBuffer(length));
}

/** Arrays of more rows than this get room for `RESERVED` in one step. */
const DOUBLED = 1 << 13;
const RESERVED = 1 << 22;

/**
 * The next capacity of an array that is copied when it grows. Copying half a million rows would hold up
 * the order path, so an array that is no longer small gets room for millions: pages that nothing has
 * been written to take no memory.
 */
export function grown(capacity: number): number {
  return capacity >= DOUBLED && capacity < RESERVED ? RESERVED : 2 * capacity;
}

/** Copies an array into a longer one; returns that. */
export function widen<T extends Float64Array | Int32Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
