/**
 * One side of a mirrored book in order of price. The best level is last: most changes are near the best
 * price, and an insertion there moves the fewest others.
 */

import type { BookSide, Level } from "./layout.js";

export class SortedSide {
  private ticks: number[] = [];
  private lots: number[] = [];
  /** Multiplied by it, ticks rise toward the best price on either side. */
  private readonly direction: 1 | -1;

  constructor(side: BookSide) {
    this.direction = side === "bid" ? 1 : -1;
  }

  get size(): number {
    return this.ticks.length;
  }

  /** Sets a level, or removes it for 0 lots; returns the lots before. */
  set(tick: number, lots: number): number {
    const at = this.find(tick);
    const known = this.ticks[at] === tick;
    const before = known ? this.lots[at]! : 0;
    if (known && lots > 0) this.lots[at] = lots;
    else if (known) this.remove(at);
    else if (lots > 0) this.insert(at, tick, lots);
    return before;
  }

  lotsAt(tick: number): number {
    const at = this.find(tick);
    return this.ticks[at] === tick ? this.lots[at]! : 0;
  }

  /** Best first. */
  levels(depth: number): Level[] {
    const result: Level[] = [];
    const end = Math.max(0, this.ticks.length - depth);
    for (let at = this.ticks.length - 1; at >= end; at--) {
      result.push([this.ticks[at]!, this.lots[at]!]);
    }
    return result;
  }

  /** Writes the best levels into the two arrays, best first; returns the count. */
  copyTo(ticks: Float64Array, lots: Float64Array): number {
    const count = Math.min(this.ticks.length, ticks.length, lots.length);
    for (let i = 0, at = this.ticks.length - 1; i < count; i++, at--) {
      ticks[i] = this.ticks[at]!;
      lots[i] = this.lots[at]!;
    }
    return count;
  }

  clear(): void {
    this.ticks = [];
    this.lots = [];
  }

  /** The first index whose level is not worse than `tick`. */
  private find(tick: number): number {
    let low = 0;
    let high = this.ticks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.ticks[middle]! - tick) * this.direction < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private insert(at: number, tick: number, lots: number): void {
    this.ticks.splice(at, 0, tick);
    this.lots.splice(at, 0, lots);
  }

  private remove(at: number): void {
    this.ticks.splice(at, 1);
    this.lots.splice(at, 1);
  }
}
