/** `ticker.<symbol>` and `candles.<symbol>.<resolution>`: what they show, and when it has changed. */

import type { Resolution } from "@perpgate/protocol";
import type { Views } from "@perpgate/venue";
import type { LatestState } from "./latest-feed.js";

export function tickerState(views: Views, symbol: string): LatestState {
  return {
    t: "ticker",
    s: symbol,
    read: () => views.ticker(symbol),
    // A ticker that differs in its time alone says nothing new.
    fingerprint: (ticker) => JSON.stringify({ ...ticker, time: 0 }),
  };
}

/** The candle under way and the one before it, whose last trades may be as new. */
export function candleState(views: Views, symbol: string, resolution: Resolution): LatestState {
  return {
    t: "candles",
    s: `${symbol}.${resolution}`,
    read: () => {
      const candles = views.candles(symbol, resolution, 2) ?? [];
      return candles.length === 0 ? undefined : candles.reverse();
    },
    fingerprint: (candles) => JSON.stringify(candles),
  };
}
