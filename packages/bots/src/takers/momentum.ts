/**
 * Momentum: follows a price that has been rising or falling, and closes when it no longer is. The
 * signal is the distance between a fast and a slow average of the index.
 */

import type { Random } from "@perpgate/protocol/random";
import { closing, type Taking } from "./taker-order.js";

const QUICK_MS = 15_000;
const SLOW_MS = 90_000;
/** The signal at which it opens, and below which it closes. */
const ENTER = 0.0004;
const LEAVE = 0.00005;
const SMALLEST = 1_000;
const LARGEST = 6_000;
const LEVERAGE = 8;

export class Momentum {
  private quick: number | undefined;
  private slow = 0;
  private seenAtMs = 0;

  constructor(private readonly random: Random) {}

  /** `size` is the position. */
  observe(index: number, nowMs: number, size: number, scale: number): Taking | undefined {
    const signal = this.signal(index, nowMs);
    if (size !== 0) {
      const isOver = size > 0 ? signal < LEAVE : signal > -LEAVE;
      return isOver ? closing(size, index) : undefined;
    }
    if (Math.abs(signal) < ENTER) return undefined;
    const dollars = scale * this.random.between(SMALLEST, LARGEST);
    return { side: signal > 0 ? "long" : "short", dollars, leverage: LEVERAGE };
  }

  private signal(index: number, nowMs: number): number {
    if (this.quick === undefined) {
      this.quick = index;
      this.slow = index;
    }
    const elapsedMs = Math.max(0, nowMs - this.seenAtMs);
    this.seenAtMs = nowMs;
    this.quick += (index - this.quick) * (1 - Math.exp(-elapsedMs / QUICK_MS));
    this.slow += (index - this.slow) * (1 - Math.exp(-elapsedMs / SLOW_MS));
    return (this.quick - this.slow) / this.slow;
  }
}
