/**
 * Short texts by row, as bytes outside of the heap: half a million strings would be objects that every
 * garbage collection looks at. A text that does not fit its cell is kept as a string.
 */
import { uint8 } from "./memory.js";

const SHIFT = 10;
const CELLS = 1 << SHIFT;
const MASK = CELLS - 1;
/** Instead of a length. */
const ELSEWHERE = 255;

export class TextCells {
  private readonly segments: Uint8Array[] = [];
  private readonly long = new Map<number, string>();

  /** `bytes` per cell, fewer than 255. */
  constructor(private readonly bytes: number) {}

  /** Rows are first set in ascending order. */
  set(row: number, text: string): void {
    const stride = this.bytes + 1;
    if (row >>> SHIFT === this.segments.length) this.segments.push(uint8(CELLS * stride));
    const segment = this.segments[row >>> SHIFT]!;
    const at = (row & MASK) * stride;
    if (segment[at] === ELSEWHERE) this.long.delete(row);
    segment[at] = text.length;
    if (this.fits(text)) {
      for (let i = 0; i < text.length; i++) segment[at + 1 + i] = text.charCodeAt(i);
    } else {
      segment[at] = ELSEWHERE;
      this.long.set(row, text);
    }
  }

  get(row: number): string {
    const segment = this.segments[row >>> SHIFT]!;
    const at = (row & MASK) * (this.bytes + 1);
    const length = segment[at]!;
    if (length === ELSEWHERE) return this.long.get(row)!;
    // Spread, the bytes would go through an iterator: six times the time, in every order's session.
    return Reflect.apply(String.fromCharCode, null, segment.subarray(at + 1, at + 1 + length));
  }

  isAt(row: number, text: string): boolean {
    const segment = this.segments[row >>> SHIFT]!;
    const at = (row & MASK) * (this.bytes + 1);
    if (segment[at] === ELSEWHERE) return this.long.get(row) === text;
    if (segment[at] !== text.length) return false;
    for (let i = 0; i < text.length; i++) {
      if (segment[at + 1 + i] !== text.charCodeAt(i)) return false;
    }
    return true;
  }

  private fits(text: string): boolean {
    if (text.length > this.bytes) return false;
    for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 255) return false;
    return true;
  }
}
