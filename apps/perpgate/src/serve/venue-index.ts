/**
 * The index of a venue: the source of the settings, and the feed that sends its prices to the venue.
 *
 * Both use the venue's time, which never goes back. With the wall clock, a clock that is set back would
 * make new prices older than those that the venue has.
 */

import type { FeedProblem, IndexObservation } from "@perpgate/oracle";
import { NO_EVIDENCE, type Venue } from "@perpgate/venue";
import { IndexFeed } from "./index-feed.js";
import { continueIndex, createIndexSource, type RunningSource } from "./index-source.js";
import type { Settings } from "./settings.js";

export interface VenueIndex {
  readonly source: RunningSource;
  readonly feed: IndexFeed;
}

export interface IndexCallbacks {
  /** One of several feeds failed. */
  onProblem(problem: FeedProblem): void;
  /** The source failed. */
  onFailure(error: unknown): void;
}

export function createVenueIndex(
  settings: Settings,
  venue: Venue,
  wallClock: () => number,
  { onProblem, onFailure }: IndexCallbacks,
): VenueIndex {
  const clock = () => venue.nowMs();
  const source = createIndexSource(settings, { now: clock, wall: wallClock }, onProblem);
  continueIndex(source, venue.views.markets());
  const symbols = settings.markets.map(({ symbol }) => symbol);
  const publish = (observation: IndexObservation) => publishTo(venue, observation);
  return { source, feed: new IndexFeed({ source, symbols, clock, publish, onFailure }) };
}

/** Resolves once the price is applied or cannot be. */
function publishTo(venue: Venue, { symbol, priceTicks }: IndexObservation): Promise<void> {
  return new Promise<void>((resolve) => {
    const market = venue.views.marketNumber(symbol);
    if (market === undefined || venue.isStopped) {
      resolve();
      return;
    }
    const stampMs = venue.nowMs();
    const command = { kind: "UpdateIndex", stampMs, market, indexTicks: priceTicks } as const;
    venue.submit(command, NO_EVIDENCE, () => resolve());
  });
}
