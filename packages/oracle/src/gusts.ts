/**
 * Gusts of one simulated market: now and then the price runs off within a minute and comes back
 * over some minutes, as it does when news turns out to be none.
 *
 * In: the times it is asked at. Out: how far the price is blown off its walk, as a log return. A walk
 * with a believable year hardly moves in minutes, so whoever starts a testnet would wait long to see
 * a position liquidated; a gust that comes back leaves the year as it was. It reads no clock, and a
 * process that slept finds at most one gust, not all that it missed.
 */

import type { Random } from "@perpgate/protocol/random";

const HOUR_MS = 3_600_000;
/** Height of a gust for each 1 of annual volatility: at 0.8 it is 0.8 to 1.6 %. */
const HEIGHT = { least: 0.01, most: 0.02 };
const RISE_MS = { least: 30_000, most: 60_000 };
const RETURN_MS = { least: 180_000, most: 300_000 };
/** The first comes soon: whoever has just started a testnet is looking. Not all markets at once. */
const FIRST_AFTER_MS = { least: 60_000, most: 360_000 };
const MEAN_DURATION_MS = middle(RISE_MS) + middle(RETURN_MS);
/** Gusts of a market do not overlap: more than this an hour leaves no calm between them. */
export const MOST_GUSTS_PER_HOUR = Math.floor(HOUR_MS / MEAN_DURATION_MS) - 1;

interface Range {
  readonly least: number;
  readonly most: number;
}

interface Gust {
  readonly beganMs: number;
  readonly riseMs: number;
  readonly returnMs: number;
  /** Signed. */
  readonly height: number;
}

export class Gusts {
  private nextAtMs: number | undefined;
  private gust: Gust | undefined;

  constructor(
    private readonly random: Random,
    /** 0 for none. */
    private readonly perHour: number,
    private readonly annualVolatility: number,
  ) {}

  /** Times never fall. */
  offsetAt(nowMs: number): number {
    if (this.perHour === 0) return 0;
    this.nextAtMs ??= nowMs + this.within(FIRST_AFTER_MS);
    if (this.gust === undefined) {
      if (nowMs < this.nextAtMs) return 0;
      this.gust = this.newGust(nowMs);
    }
    const { beganMs, riseMs, returnMs, height } = this.gust;
    const returningMs = nowMs - beganMs - riseMs;
    if (returningMs < 0) return height * smooth(1 + returningMs / riseMs);
    if (returningMs < returnMs) return height * smooth(1 - returningMs / returnMs);
    this.gust = undefined;
    this.nextAtMs = nowMs + this.calmMs();
    return 0;
  }

  private newGust(beganMs: number): Gust {
    const sign = this.random.chance(0.5) ? -1 : 1;
    return {
      beganMs,
      riseMs: this.within(RISE_MS),
      returnMs: this.within(RETURN_MS),
      height: sign * this.annualVolatility * this.within(HEIGHT),
    };
  }

  private calmMs(): number {
    return this.random.exponential(Math.max(0, HOUR_MS / this.perHour - MEAN_DURATION_MS));
  }

  private within({ least, most }: Range): number {
    return this.random.between(least, most);
  }
}

/** From 0 to 1 without a kink at either end. */
function smooth(part: number): number {
  return part * part * (3 - 2 * part);
}

function middle({ least, most }: Range): number {
  return (least + most) / 2;
}
