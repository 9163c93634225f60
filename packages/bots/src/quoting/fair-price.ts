/**
 * What the makers think a market is worth: the index, followed with a little delay.
 *
 * The delay is what makes quoting cheap. An index that goes up and down within a second would have
 * every near quote sent anew; its average does not. The lag stays below the fee of a taker, so
 * nobody earns by being faster.
 */

const FOLLOW_MS = 3_000;
/** How far it may lag, as a part of the index. */
const LARGEST_LAG = 0.0004;

export class FairPrice {
  private value: number | undefined;
  private updatedAtMs = 0;

  /** In: the index in any unit. Out: the fair price in the same unit. */
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
