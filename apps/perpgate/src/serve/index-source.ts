/** The index source of the settings: simulated by default, or the median of web feeds. */

import {
  type FeedClocks,
  type FeedProblem,
  HttpIndexSource,
  type IndexSource,
  SimulatedIndexSource,
} from "@perpgate/oracle";
import type { Market } from "@perpgate/protocol";
import { stepOf, toSteps } from "@perpgate/protocol/core";
import { StartError } from "../cli/start-error.js";
import type { Settings } from "./settings.js";

/** A source of index prices. `start`, `stop` and `refresh` exist if it polls. */
export interface RunningSource extends IndexSource {
  /** A simulated source continues from the venue's last price. */
  continueFrom?(symbol: string, priceTicks: number): void;
  start?(): Promise<void>;
  /** Polls now; resolves at the end, or before that once there are prices enough. Never rejects. */
  refresh?(isEnough: () => boolean): Promise<void>;
  stop?(): Promise<void>;
}

/** Throws if a market has fewer feeds than the quorum. */
export function refuseMissingFeeds({ markets, index }: Settings): void {
  if (index.source === "simulated") return;
  for (const { symbol } of markets) {
    const feeds = index.feeds.filter((feed) => symbol in feed.markets).length;
    if (feeds < index.quorum) {
      throw new StartError(
        `"index.feeds": ${symbol} has ${feeds} of the ${index.quorum} feeds that "index.quorum" asks for`,
      );
    }
  }
}

export function createIndexSource(
  { markets, index }: Settings,
  clocks: FeedClocks,
  onProblem: (problem: FeedProblem) => void,
): RunningSource {
  if (index.source === "simulated") {
    return new SimulatedIndexSource(
      markets.map(({ symbol, tickSize, index: { startPrice, annualVolatility } }) => ({
        symbol,
        startTicks: toSteps(startPrice, stepOf(tickSize)),
        annualVolatility,
      })),
      index.seed,
      index.gustsPerHour,
    );
  }
  return new HttpIndexSource(markets, { ...index, intervalMs: index.pollMs }, clocks, onProblem);
}

/** After a restart a simulated index continues from the last price in the log. */
export function continueIndex(source: RunningSource, markets: readonly Market[]): void {
  for (const { symbol, indexPrice, tickSize } of markets) {
    if (indexPrice !== null) source.continueFrom?.(symbol, toSteps(indexPrice, stepOf(tickSize)));
  }
}
