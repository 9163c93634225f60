/** What is public about the markets, kept by the ticker streams: the only prices a bot knows. */

import type { Market, PerpgateClient, Subscription, Ticker } from "@perpgate/sdk";
import { type MarketTerms, marketTerms } from "./market-terms.js";

/** Prices in dollars. */
export interface Prices {
  readonly index: number;
  readonly bid: number | undefined;
  readonly ask: number | undefined;
}

export class MarketWatch {
  readonly terms: MarketTerms;
  private latest: Prices | undefined;
  private readonly subscription: Subscription;
  /** Until then the market is left alone: it is halted, or its index is stale. */
  private restsUntilMs = 0;

  constructor(client: PerpgateClient, market: Market) {
    this.terms = marketTerms(market);
    this.subscription = client.stream.watchTicker(
      market.symbol,
      (ticker) => this.onTicker(ticker),
      {
        // Old prices are no prices.
        onProblem: () => {
          this.latest = undefined;
        },
      },
    );
  }

  get prices(): Prices | undefined {
    return this.latest;
  }

  /** The prices, unless the market is left alone for now. */
  tradable(nowMs: number): Prices | undefined {
    return nowMs < this.restsUntilMs ? undefined : this.latest;
  }

  rest(untilMs: number): void {
    this.restsUntilMs = Math.max(this.restsUntilMs, untilMs);
  }

  close(): void {
    this.subscription.close();
  }

  private onTicker({ index, bid, ask }: Ticker): void {
    if (index === null) return;
    this.latest = { index, bid: bid ?? undefined, ask: ask ?? undefined };
  }
}
