/**
 * Arrays that grow by whole segments: growth copies nothing, so no command pays for the size that a
 * table has reached. Reading costs one more load than a single array.
 */

import { float64, int32 } from "./memory.js";

/** Segments are large enough for a buffer of their own (memory.ts). */
const SHIFT = 14;
const ITEMS = 1 << SHIFT;
const MASK = ITEMS - 1;

export class Float64Segments {
  private readonly segments: Float64Array[] = [];

  get(i: number): number {
    return this.segments[i >>> SHIFT]![i & MASK]!;
  }

  /** Indexes are first set in ascending order. */
  set(i: number, value: number): void {
    if (i >>> SHIFT === this.segments.length) this.segments.push(float64(ITEMS));
    this.segments[i >>> SHIFT]![i & MASK] = value;
  }
}

export class Int32Segments {
  private readonly segments: Int32Array[] = [];

  /** What was never set is 0. */
  get(i: number): number {
    const segment = this.segments[i >>> SHIFT];
    return segment === undefined ? 0 : segment[i & MASK]!;
  }

  set(i: number, value: number): void {
    while (i >>> SHIFT >= this.segments.length) this.segments.push(int32(ITEMS));
    this.segments[i >>> SHIFT]![i & MASK] = value;
  }
}

/** The same for values that are no numbers. */
export class ValueSegments<T> {
  private readonly segments: T[][] = [];

  /** Only what was set. */
  get(i: number): T {
    return this.segments[i >>> SHIFT]![i & MASK]!;
  }

  /** Indexes are first set in ascending order. */
  set(i: number, value: T): void {
    if (i >>> SHIFT === this.segments.length) this.segments.push([]);
    this.segments[i >>> SHIFT]![i & MASK] = value;
  }
}
