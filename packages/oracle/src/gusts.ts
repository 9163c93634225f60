/**
 * Gusts of one simulated market: occasionally the price moves away within a minute and returns over
 * some minutes.
 *
 * `offsetAt` returns the distance from the random walk at a time, as a log return. A walk with a
 * realistic annual volatility hardly moves within minutes, so on a new testnet no position would be
 * liquidated for a long time; a gust that returns does not change the annual volatility. It reads no
 * clock, and after a pause of the process at most one gust follows, not all that were missed.
 */

import type { Random } from "@perpgate/protocol/random";

const HOUR_MS = 3_600_000;
/** Height of a gust for each 1 of annual volatility: at 0.8 it is 0.8 to 1.6 %. */
const HEIGHT = { least: 0.01, most: 0.02 };
const RISE_MS = { least: 30_000, most: 60_000 };
const RETURN_MS = { least: 180_000, most: 300_000 };
/** The first gust comes soon after the start of a testnet, at a different time in each market. */
const FIRST_AFTER_MS = { least: 60_000, most: 360_000 };
const MEAN_DURATION_MS = middle(RISE_MS) + middle(RETURN_MS);
/** Gusts of a market do not overlap: with more per hour there would be no pause between them. */
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

  /** `nowMs` must not decrease between calls. */
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
