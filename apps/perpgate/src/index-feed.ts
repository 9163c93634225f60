/**
 * The index feed: asks a source at an interval and keeps the latest price of each market.
 *
 * The first prices are there before the feed reports ready. A source that throws leaves the old
 * prices in place, which then grow stale and make the gateway unready: no price is ever invented.
 */

import type { ReadinessProbe } from "@perpgate/gateway";
import type { IndexObservation, IndexSource } from "@perpgate/oracle";

/** As old as the contract lets an index be before opening orders stop. */
export const MAX_INDEX_AGE_MS = 10_000;

export class IndexFeed implements ReadinessProbe {
  readonly name = "index";
  private readonly latest = new Map<string, IndexObservation>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly source: IndexSource,
    private readonly symbols: readonly string[],
    private readonly clock: () => number,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  start(intervalMs: number): void {
    this.refresh();
    this.timer = setInterval(() => this.refresh(), intervalMs);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  refresh(): void {
    try {
      for (const observation of this.source.observe(this.clock())) {
        this.latest.set(observation.symbol, observation);
      }
    } catch (error) {
      this.onFailure(error);
    }
  }

  /** Ticks, or undefined where no price has been seen. */
  priceTicks(symbol: string): number | undefined {
    return this.latest.get(symbol)?.priceTicks;
  }

  notReadyReason(nowMs: number): string | undefined {
    for (const symbol of this.symbols) {
      const observation = this.latest.get(symbol);
      if (observation === undefined) return `no index price for ${symbol} yet`;
      if (nowMs - observation.observedAtMs > MAX_INDEX_AGE_MS) {
        return `the index of ${symbol} is older than ${MAX_INDEX_AGE_MS} ms`;
      }
    }
    return undefined;
  }
}
