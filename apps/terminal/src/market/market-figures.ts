/** Volume and open interest of a market, in dollars. */

import type { Ticker } from "@perpgate/protocol";
import { formatCompact } from "../format/numbers.js";
import type { MarketView } from "../venue/market-view.js";

/** In the base where the venue does not know the turnover of the whole day. */
export function volumeText({ market }: MarketView, ticker: Ticker | undefined): string {
  const turnover = ticker?.turnover24h ?? null;
  if (turnover !== null) return `${formatCompact(turnover)} ${market.quote}`;
  return `${formatCompact(ticker?.volume24h)} ${market.base}`;
}

export function interestText({ market }: MarketView, ticker: Ticker | undefined): string {
  return `${formatCompact(openInterestOf(ticker))} ${market.quote}`;
}

/** At the mark. */
export function openInterestOf(ticker: Ticker | undefined): number | null {
  if (ticker === undefined || ticker.mark === null) return null;
  return ticker.openInterest * ticker.mark;
}
