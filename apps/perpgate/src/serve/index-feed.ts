/**
 * The index feed: asks a source at an interval and passes each new price on to the venue.
 *
 * The first prices are there before the feed reports ready. A price is passed on once: a source
 * that fails, or repeats what it said before, lets the index grow stale at the venue, and makes the
 * gateway unready. No price is ever invented.
 */

import type { ReadinessProbe } from "@perpgate/link";
import type { IndexObservation, IndexSource } from "@perpgate/oracle";
import { INDEX_STALE_MS } from "@perpgate/protocol/core";

interface IndexFeedOptions {
  readonly source: IndexSource;
  /** The markets that must have a price. */
  readonly symbols: () => readonly string[];
  /** Unix milliseconds that never go back: the venue's time. */
  readonly clock: () => number;
  /** Takes each observation that is newer than the last of its market; resolves once it shows. */
  readonly publish: (observation: IndexObservation) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

export class IndexFeed implements ReadinessProbe {
  readonly name = "index";
  private readonly latest = new Map<string, IndexObservation>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: IndexFeedOptions) {}

  /** Resolves once the first prices show: a client that comes then finds them. */
  async start(intervalMs: number): Promise<void> {
    await this.refresh();
    this.timer = setInterval(() => void this.refresh(), intervalMs);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  async refresh(): Promise<void> {
    const { source, clock, publish, onFailure } = this.options;
    const published: Promise<void>[] = [];
    try {
      for (const observation of source.observe(clock())) {
        const known = this.latest.get(observation.symbol);
        if (known !== undefined && observation.observedAtMs <= known.observedAtMs) continue;
        this.latest.set(observation.symbol, observation);
        published.push(publish(observation));
      }
      await Promise.all(published);
    } catch (error) {
      onFailure(error);
    }
  }

  notReadyReason(): string | undefined {
    const nowMs = this.options.clock();
    for (const symbol of this.options.symbols()) {
      const observation = this.latest.get(symbol);
      if (observation === undefined) return `no index price for ${symbol} yet`;
      if (nowMs - observation.observedAtMs > INDEX_STALE_MS) {
        return `the index of ${symbol} is older than ${INDEX_STALE_MS} ms`;
      }
    }
    return undefined;
  }
}
