/**
 * How wide the cells of a ladder are, so that following the price costs no more than there is.
 *
 * A fair price that moves by a cell costs about three actions: one quote is in its way, one is placed
 * behind it, and something happens far out. So the faster a market moves, and the more markets share
 * the actions, the wider its cells. The width is the narrowest times a power of two, and changes
 * only once it is clearly wrong: a new width moves every quote.
 */

import { NARROWEST_CELL } from "./ladder.js";

const ACTIONS_PER_CELL = 3;
/** The part of the actions that following may take; the rest deepens and refills. */
const FOLLOWING_PART = 0.3;
/** A calm market of today, as a part of its price per second: what is believed before it is seen. */
const USUAL_SPEED = 0.00005;
const REMEMBERED_MS = 30_000;
const MOST_DOUBLINGS = 8;
const SLACK = 0.7;

export class CellWidth {
  private speed = USUAL_SPEED;
  private before: { readonly fair: number; readonly nowMs: number } | undefined;
  private doublings: number;

  constructor(private readonly actionsPerSecond: number) {
    this.doublings = Math.max(0, Math.round(this.neededDoublings()));
  }

  /** Looks at the fair price; answers the width as a part of it. */
  observe(fair: number, nowMs: number): number {
    const { before } = this;
    this.before = { fair, nowMs };
    if (before !== undefined && nowMs > before.nowMs) {
      const elapsedMs = nowMs - before.nowMs;
      const speed = (Math.abs(fair / before.fair - 1) / elapsedMs) * 1_000;
      this.speed += (speed - this.speed) * (1 - Math.exp(-elapsedMs / REMEMBERED_MS));
    }
    const needed = this.neededDoublings();
    if (needed > this.doublings + SLACK) {
      this.doublings = Math.min(MOST_DOUBLINGS, Math.round(needed));
    } else if (needed < this.doublings - 1 - SLACK) {
      this.doublings = Math.max(0, this.doublings - 1);
    }
    return NARROWEST_CELL * 2 ** this.doublings;
  }

  private neededDoublings(): number {
    const width = (ACTIONS_PER_CELL * this.speed) / (FOLLOWING_PART * this.actionsPerSecond);
    return Math.log2(Math.max(width, Number.MIN_VALUE) / NARROWEST_CELL);
  }
}
