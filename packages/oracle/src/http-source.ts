/**
 * An index from several web feeds: the median of the fresh prices that agree.
 *
 * At each interval every URL is requested whose last request has ended. The index of a market is the
 * median of the prices within `maxDeviation` of the median of all fresh ones. Its time is that of the
 * `quorum`-th newest of these prices, so that a silent feed whose last price still counts does not make
 * the index look old. With fewer than `quorum` such prices the index keeps its last value and time, and
 * becomes stale at the venue; so neither a dead feed nor a wrong one moves the index. Jumps are the
 * engine's business: it holds them back until later updates confirm them.
 */

import type { Step } from "@perpgate/protocol";
import { stepOf } from "@perpgate/protocol/core";
import type { IndexObservation, IndexSource } from "./index-source.js";
import {
  type FeedClocks,
  type FeedPrice,
  type FeedProblem,
  type FeedSettings,
  PriceFeed,
} from "./price-feed.js";

interface HttpSourceMarket {
  readonly symbol: string;
  readonly tickSize: number;
}

export interface HttpSourceSettings {
  readonly feeds: readonly FeedSettings[];
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** A feed's price older than this no longer counts. */
  readonly maxAgeMs: number;
  /** Feeds that must agree. */
  readonly quorum: number;
  /** How far from the median a feed may be: 0.02 is 2 %. */
  readonly maxDeviation: number;
}

export const DEFAULT_HTTP_SOURCE = {
  intervalMs: 1_000,
  timeoutMs: 2_000,
  maxAgeMs: 10_000,
  quorum: 2,
  maxDeviation: 0.02,
} as const;

interface Agreed {
  readonly price: number;
  readonly observedAtMs: number;
}

interface MarketState {
  readonly symbol: string;
  readonly tick: Step;
  accepted: Agreed | undefined;
}

export class HttpIndexSource implements IndexSource {
  readonly name = "http";
  private readonly feeds: readonly PriceFeed[];
  private readonly markets: readonly MarketState[];
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    markets: readonly HttpSourceMarket[],
    private readonly settings: HttpSourceSettings,
    clocks: FeedClocks,
    onProblem: (problem: FeedProblem) => void,
  ) {
    this.feeds = settings.feeds.map(
      (feed) => new PriceFeed(feed, settings.timeoutMs, clocks, onProblem),
    );
    this.markets = markets.map(({ symbol, tickSize }) => ({
      symbol,
      tick: stepOf(tickSize),
      accepted: undefined,
    }));
  }

  /** Polls now and then every `intervalMs`; resolves when the first requests have ended. */
  async start(): Promise<void> {
    this.timer = setInterval(() => void this.refresh(), this.settings.intervalMs);
    await this.refresh();
  }

  /** Aborts the requests in flight and starts no more. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    await Promise.all(this.feeds.map((feed) => feed.settled()));
  }

  /**
   * Requests every URL that has no request in flight; resolves when all requests have ended, or once
   * `isEnough` after those of a feed have.
   */
  async refresh(isEnough: () => boolean = () => false): Promise<void> {
    await new Promise<void>((resolve) => {
      const refreshed = this.feeds.map(async (feed) => {
        await feed.refresh(this.stopping.signal);
        if (isEnough()) resolve();
      });
      void Promise.all(refreshed).then(() => resolve());
    });
  }

  observe(nowMs: number): readonly IndexObservation[] {
    return this.markets.flatMap((market) => {
      const agreed = this.agreedPrice(market.symbol, nowMs);
      if (agreed !== undefined) consider(market, agreed);
      const { accepted, symbol, tick } = market;
      if (accepted === undefined) return [];
      const priceTicks = Math.round(accepted.price / tick.size);
      return [{ symbol, priceTicks, observedAtMs: accepted.observedAtMs }];
    });
  }

  /** The median of the fresh prices that are near the median of all fresh ones. */
  private agreedPrice(symbol: string, nowMs: number): Agreed | undefined {
    const fresh = this.feeds.flatMap((feed) => {
      const latest = feed.latest(symbol);
      return latest !== undefined && nowMs - latest.observedAtMs <= this.settings.maxAgeMs
        ? [latest]
        : [];
    });
    if (fresh.length === 0) return undefined;
    const middle = medianOf(fresh.map(({ price }) => price));
    const near = fresh.filter(
      ({ price }) => Math.abs(price - middle) <= middle * this.settings.maxDeviation,
    );
    if (near.length < this.settings.quorum) return undefined;
    return {
      price: medianOf(near.map(({ price }) => price)),
      observedAtMs: newestOf(near, this.settings.quorum),
    };
  }
}

function consider(market: MarketState, agreed: Agreed): void {
  const ticks = Math.round(agreed.price / market.tick.size);
  // A price below half a tick, or too large for whole ticks, is invalid in this market.
  if (ticks < 1 || !Number.isSafeInteger(ticks * market.tick.multiplier)) return;
  market.accepted = agreed;
}

/** The time of the `count`-th newest price: that many are at least as new. */
function newestOf(prices: readonly FeedPrice[], count: number): number {
  const newestFirst = prices.map(({ observedAtMs }) => observedAtMs).sort((a, b) => b - a);
  return newestFirst[Math.max(1, count) - 1] ?? 0;
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[sorted.length >> 1] ?? 0;
  if (sorted.length % 2 === 1) return upper;
  return ((sorted[(sorted.length >> 1) - 1] ?? 0) + upper) / 2;
}
