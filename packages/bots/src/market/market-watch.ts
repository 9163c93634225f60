/** The prices of a market from its ticker stream: the only ones that the bots know. */

import type { Market, PerpgateClient, Subscription, Ticker } from "@perpgate/sdk";
import { type MarketTerms, marketTerms } from "./market-terms.js";

/** Prices in dollars. */
export interface Prices {
  readonly index: number;
  readonly bid: number | undefined;
  readonly ask: number | undefined;
}

const STALE_PAUSE_MS = 2_000;
const CLOSED_PAUSE_MS = 30_000;
const PAUSES_MS: Readonly<Record<string, number>> = {
  stale_index: STALE_PAUSE_MS,
  index_held: STALE_PAUSE_MS,
  market_halted: CLOSED_PAUSE_MS,
  market_reduce_only: CLOSED_PAUSE_MS,
  market_settled: CLOSED_PAUSE_MS,
};

export class MarketWatch {
  readonly terms: MarketTerms;
  private latest: Prices | undefined;
  private readonly subscription: Subscription;
  /** Until then nobody trades: the market is halted, or its index is stale. */
  private pausedUntilMs = 0;

  constructor(client: PerpgateClient, market: Market) {
    this.terms = marketTerms(market);
    this.subscription = client.stream.watchTicker(
      market.symbol,
      (ticker) => this.onTicker(ticker),
      {
        // Old prices must not be traded on.
        onProblem: () => {
          this.latest = undefined;
        },
      },
    );
  }

  /** The prices, unless the market is paused. */
  tradable(nowMs: number): Prices | undefined {
    return nowMs < this.pausedUntilMs ? undefined : this.latest;
  }

  /** Pauses the market if the refusal is about the market and not about the order. */
  pauseAfter(refusal: string, nowMs: number): void {
    const pauseMs = PAUSES_MS[refusal] ?? 0;
    if (pauseMs > 0) this.pausedUntilMs = Math.max(this.pausedUntilMs, nowMs + pauseMs);
  }

  close(): void {
    this.subscription.close();
  }

  private onTicker({ index, bid, ask }: Ticker): void {
    if (index === null) return;
    this.latest = { index, bid: bid ?? undefined, ask: ask ?? undefined };
  }
}
