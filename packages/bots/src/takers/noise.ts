/**
 * Noise: random trades, often small and seldom large. The larger a trader's position, the more likely
 * it trades against it, so that its position stays small and the makers can close theirs.
 */

import type { Random } from "@perpgate/protocol/random";
import { closing, type Taking } from "./taker-order.js";

const LEVERAGE = 5;
/** Dollars: the smallest trade, and how many times larger the largest is. */
const SMALLEST = 30;
const RANGE = 300;
const SMALLNESS = 1.5;
/** The position at which nearly every trade goes against it. */
const FULL_POSITION = 15_000;
const CLOSES = 0.04;
/** The probability that another trade follows within a moment. */
const CLUSTERED = 0.2;
const CLUSTER_MS = 400;

/** When the next trade of a market is due. */
export class NoiseClock {
  private nextAtMs: number | undefined;

  constructor(
    private readonly random: Random,
    private readonly meanMs: number,
  ) {}

  isDue(nowMs: number): boolean {
    // The first is due immediately.
    this.nextAtMs ??= nowMs;
    if (nowMs < this.nextAtMs) return false;
    const isClustered = this.random.chance(CLUSTERED);
    // The other waits are longer, so that the mean is kept.
    const waitMs = isClustered
      ? this.random.exponential(CLUSTER_MS)
      : this.random.exponential((this.meanMs - CLUSTERED * CLUSTER_MS) / (1 - CLUSTERED));
    this.nextAtMs = nowMs + Math.max(1, waitMs);
    return true;
  }
}

/** `size` is the trader's position, `scale` that of the market's amounts. */
export function noiseTaking(random: Random, size: number, index: number, scale: number): Taking {
  const lean = Math.tanh((size * index) / (FULL_POSITION * scale));
  const isLong = random.chance(0.5 - 0.5 * lean);
  const dollars = SMALLEST * scale * RANGE ** (random.next() ** SMALLNESS);
  if (size !== 0 && random.chance(CLOSES)) return closing(size, index);
  return { side: isLong ? "long" : "short", dollars, leverage: LEVERAGE };
}
