/**
 * The index of a venue: the source of the settings, and the feed that passes its prices on.
 *
 * Both run on the venue's own time. The machine's clock may be set back, and then prices by that
 * clock would be older than those the venue has, while its own time, and with it the age of its
 * index, goes on.
 */

import type { FeedProblem, IndexObservation } from "@perpgate/oracle";
import { NO_EVIDENCE, type Venue } from "@perpgate/venue";
import { IndexFeed } from "./index-feed.js";
import { continueIndex, createIndexSource, type RunningSource } from "./index-source.js";
import type { Settings } from "./serve/settings.js";

export interface VenueIndex {
  readonly source: RunningSource;
  readonly feed: IndexFeed;
}

export interface IndexTroubles {
  /** One of several web feeds failed. */
  onProblem(problem: FeedProblem): void;
  /** The source itself did. */
  onFailure(error: unknown): void;
}

export function createVenueIndex(
  settings: Settings,
  venue: Venue,
  wallClock: () => number,
  { onProblem, onFailure }: IndexTroubles,
): VenueIndex {
  const clock = () => venue.nowMs();
  const source = createIndexSource(settings, { now: clock, wall: wallClock }, onProblem);
  continueIndex(source, venue.views.markets());
  const symbols = settings.markets.map(({ symbol }) => symbol);
  const publish = (observation: IndexObservation) => publishTo(venue, observation);
  return { source, feed: new IndexFeed({ source, symbols, clock, publish, onFailure }) };
}

/** Resolves once the price shows, or never will. */
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
