/**
 * Noise: trades for no reason, now here and now there, small ones often and large ones seldom.
 *
 * The larger a trader's position has become, the more likely it trades against it, so that noise
 * never becomes a bet and the makers get rid of what they took.
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
/** A trade often comes with others, within a moment. */
const COMPANY = 0.2;
const COMPANY_WITHIN_MS = 400;

/** When the next trade of a market is due. */
export class NoiseClock {
  private nextAtMs: number | undefined;

  constructor(
    private readonly random: Random,
    private readonly meanMs: number,
  ) {}

  isDue(nowMs: number): boolean {
    // The first comes soon: a market that opens has someone waiting for it.
    this.nextAtMs ??= nowMs;
    if (nowMs < this.nextAtMs) return false;
    const isInCompany = this.random.chance(COMPANY);
    // Lone waits are longer, so that the mean is kept.
    const waitMs = isInCompany
      ? this.random.exponential(COMPANY_WITHIN_MS)
      : this.random.exponential((this.meanMs - COMPANY * COMPANY_WITHIN_MS) / (1 - COMPANY));
    this.nextAtMs = nowMs + Math.max(1, waitMs);
    return true;
  }
}

/** `size` is the trader's position, `scale` what counts as money in this market. */
export function noiseTaking(random: Random, size: number, index: number, scale: number): Taking {
  const lean = Math.tanh((size * index) / (FULL_POSITION * scale));
  const isLong = random.chance(0.5 - 0.5 * lean);
  const dollars = SMALLEST * scale * RANGE ** (random.next() ** SMALLNESS);
  if (size !== 0 && random.chance(CLOSES)) return closing(size, index);
  return { side: isLong ? "long" : "short", dollars, leverage: LEVERAGE };
}
