/**
 * Arbitrage: takes orders far from the index and closes the position slowly. Without it one forgotten
 * order would hold a market away from its price, because makers only quote.
 */

import type { Prices } from "../market/market-watch.js";
import { closing, type Taking } from "./taker-order.js";

/** How far from the index an order must be: more than the makers' lag and the fee. */
const FAR = 0.0012;
const NO_WORSE = 0.001;
const DOLLARS = 8_000;
const LEVERAGE = 5;
/** The part of the position that one closing order closes. */
const CLOSING_PART = 0.2;
const CLOSING_EVERY_MS = 5_000;

export class Arbitrage {
  private closesAtMs = 0;

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
    if (size === 0 || nowMs < this.closesAtMs) return undefined;
    this.closesAtMs = nowMs + CLOSING_EVERY_MS;
    const isSmall = Math.abs(size) * index < dollars / 4;
    return closing(size, index, isSmall ? 1 : CLOSING_PART);
  }
}
