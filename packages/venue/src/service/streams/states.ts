/** The states of the public streams as edges get them. */

import { MAX_TRADES } from "@perpgate/link";
import type { Resolution, Trade } from "@perpgate/protocol";
import type { Venue } from "../../venue.js";
import type { Views } from "../../views/views.js";
import { conflictOf } from "../public-reads.js";
import type { EdgeFollower } from "./followers.js";
import type { State } from "./latest-source.js";

export function tickerOf(views: Views, symbol: string): State | undefined {
  const ticker = views.ticker(symbol);
  if (ticker === undefined) return undefined;
  return {
    // A ticker that differs in its time alone is not news.
    fingerprint: JSON.stringify({ ...ticker, time: 0 }),
    send: (to) => to.notify("ticker", { ticker }),
  };
}

/** The open candle and the one before it, whose last trades may be as new; none while the past is rebuilt. */
export function candlesOf(views: Views, symbol: string, resolution: Resolution): State | undefined {
  if (views.isRebuilding) return undefined;
  const candles = views.candles(symbol, resolution, { limit: 2 }) ?? [];
  if (candles.length === 0) return undefined;
  candles.reverse();
  return {
    fingerprint: JSON.stringify(candles),
    send: (to) => to.notify("candles", { symbol, resolution, candles }),
  };
}

export function statusOf(venue: Venue): State {
  const status = { ...venue.views.status(), ...conflictOf(venue) };
  return {
    // Time, block and position change with every command.
    fingerprint: JSON.stringify({ ...status, time: 0, block: 0, position: 0 }),
    send: (to) => to.notify("status", { status }),
  };
}

export function marketsState({ listing }: Venue): State {
  const symbols = listing.markets.map(({ symbol }) => symbol);
  return { fingerprint: symbols.join(), send: (to) => to.notify("markets", { symbols }) };
}

export function sendTrades(to: EdgeFollower, symbol: string, trades: readonly Trade[]): void {
  for (let from = 0; from < trades.length; from += MAX_TRADES) {
    to.notify("trades", { symbol, trades: trades.slice(from, from + MAX_TRADES) });
  }
}

export function sendBlocks(to: EdgeFollower, views: Views, numbers: readonly number[]): void {
  for (const number of numbers) {
    const block = views.block(number);
    if (block !== undefined) to.notify("block", { block });
  }
}
