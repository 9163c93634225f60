/**
 * The width of a ladder's cells, chosen so that following the price stays within the budget.
 *
 * A fair price that moves by one cell costs about three actions: the quote that it crosses is
 * canceled, one is placed behind it, and one changes far out. So the faster a market moves, and the
 * more markets share the budget, the wider its cells. The width is the narrowest times a power of two
 * and changes only when it is clearly wrong, because a new width moves every quote.
 */

import { NARROWEST_CELL } from "./ladder.js";

const ACTIONS_PER_CELL = 3;
/** The part of the actions for following the price; the rest deepens and refills the book. */
const FOLLOWING_PART = 0.3;
/** Assumed at first: a calm market, as a part of its price per second. */
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

  /** Records the fair price; returns the width as a part of it. */
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
