/**
 * Offsets of one table's entries in a slice: appended when a row is written, sorted when one is read.
 * A row that nobody reads costs no sorting, and each is sorted once, however many reads follow.
 */

const INITIAL_OFFSETS = 256;

/** The first index, not below `from`, whose offset is not below what is searched. */
export function lowerBound(
  sorted: Int32Array,
  from: number,
  isBelow: (at: number) => boolean,
): number {
  let low = from;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBelow(sorted[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class OffsetList {
  private count = 0;
  /** In the order of writing. */
  private numbers = new Int32Array(INITIAL_OFFSETS);
  /** The first `sortedCount` are the latest of each key among the first `merged` numbers, by key. */
  private ordered = new Int32Array(0);
  private sortedCount = 0;
  private merged = 0;

  push(at: number): void {
    if (this.count === this.numbers.length) {
      const wider = new Int32Array(2 * this.count);
      wider.set(this.numbers);
      this.numbers = wider;
    }
    this.numbers[this.count++] = at;
  }

  /** Keeps the memory. */
  clear(): void {
    this.count = 0;
    this.sortedCount = 0;
    this.merged = 0;
  }

  /** The latest offset of each key, by key. */
  sorted(compare: (a: number, b: number) => number): Int32Array {
    if (this.merged < this.count) this.merge(compare);
    return this.ordered.subarray(0, this.sortedCount);
  }

  private merge(compare: (a: number, b: number) => number): void {
    // Stable: of equal keys the latest comes last.
    const added = Array.from(this.numbers.subarray(this.merged, this.count)).sort(compare);
    const before = this.ordered.subarray(0, this.sortedCount);
    const ordered = new Int32Array(this.numbers.length);
    let [length, next] = [0, 0];
    for (const at of added) {
      const end = lowerBound(before, next, (other) => compare(other, at) < 0);
      ordered.set(before.subarray(next, end), length);
      length += end - next;
      next = end;
      if (next < before.length && compare(before[next]!, at) === 0) next++;
      if (length > 0 && compare(ordered[length - 1]!, at) === 0) length--;
      ordered[length++] = at;
    }
    ordered.set(before.subarray(next), length);
    this.sortedCount = length + before.length - next;
    this.ordered = ordered;
    this.merged = this.count;
  }
}
