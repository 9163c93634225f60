/**
 * The makers' fair price of a market: the index, smoothed.
 *
 * Smoothing makes quoting cheap: an index that moves up and down within a second would move every
 * near quote, its average does not. The lag stays below the taker's fee, so that nobody can profit
 * from it.
 */

const FOLLOW_MS = 3_000;
/** How far it may lag, as a part of the index. */
const LARGEST_LAG = 0.0004;

export class FairPrice {
  private value: number | undefined;
  private updatedAtMs = 0;

  /** Returns the fair price in the unit of the index. */
  update(index: number, nowMs: number): number {
    const elapsedMs = Math.max(0, nowMs - this.updatedAtMs);
    this.updatedAtMs = nowMs;
    const before = this.value ?? index;
    const followed = before + (index - before) * (1 - Math.exp(-elapsedMs / FOLLOW_MS));
    const lag = LARGEST_LAG * index;
    this.value = Math.min(index + lag, Math.max(index - lag, followed));
    return this.value;
  }
}
