/**
 * Arbitrage: takes what a stranger offers far from the index, and lets go of it slowly. Without it
 * one forgotten order would hold a whole market away from its price, since makers only ever quote.
 */

import type { Prices } from "../market/market-watch.js";
import { closing, type Taking } from "./taker-order.js";

/** How far off an offer must be: more than the makers' lag and the fee. */
const FAR = 0.0012;
const NO_WORSE = 0.001;
const DOLLARS = 8_000;
const LEVERAGE = 5;
/** Of a position, what it lets go at a time. */
const LET_GO = 0.2;
const LET_GO_EVERY_MS = 5_000;

export class Arbitrage {
  private letsGoAtMs = 0;

  observe(
    { index, bid, ask }: Prices,
    nowMs: number,
    size: number,
    scale: number,
  ): Taking | undefined {
    const dollars = DOLLARS * scale;
    if (ask !== undefined && ask < index * (1 - FAR)) {
      return { side: "long", dollars, leverage: LEVERAGE, worst: -NO_WORSE };
    }
    if (bid !== undefined && bid > index * (1 + FAR)) {
      return { side: "short", dollars, leverage: LEVERAGE, worst: -NO_WORSE };
    }
    if (size === 0 || nowMs < this.letsGoAtMs) return undefined;
    this.letsGoAtMs = nowMs + LET_GO_EVERY_MS;
    const isSmall = Math.abs(size) * index < dollars / 4;
    return closing(size, index, isSmall ? 1 : LET_GO);
  }
}
