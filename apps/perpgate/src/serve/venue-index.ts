/**
 * The index of a venue: the source of the settings, and the feed that sends its prices to the venue.
 *
 * Both use the venue's time, which never goes back. With the wall clock, a clock that is set back would
 * make new prices older than those that the venue has.
 */

import type { FeedProblem, IndexObservation } from "@perpgate/oracle";
import { NO_EVIDENCE, STEP_IN_MS, TICK_MS, type Venue } from "@perpgate/venue";
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
  const turn = new IndexTurn(venue, source, settings.index.intervalMs);
  const publish = (observation: IndexObservation) => publishTo(venue, turn, observation);
  return { source, feed: new IndexFeed({ source, symbols, clock, publish, onFailure }) };
}

/** Resolves once the price is applied or cannot be. */
function publishTo(
  venue: Venue,
  turn: IndexTurn,
  { symbol, priceTicks, observedAtMs }: IndexObservation,
): Promise<void> {
  return new Promise<void>((resolve) => {
    const market = venue.views.marketNumber(symbol);
    if (market === undefined || venue.isStopped) {
      resolve();
      return;
    }
    if (!turn.isOurs(market, symbol)) {
      resolve();
      return;
    }
    const stampMs = venue.nowMs();
    const slot = Math.floor(observedAtMs / TICK_MS);
    const command = {
      kind: "UpdateIndex",
      stampMs,
      market,
      indexTicks: priceTicks,
      slot,
    } as const;
    venue.submit(command, NO_EVIDENCE, () => resolve());
  });
}

/**
 * Whose turn it is to propose prices: of the first live writer of the log; of the next ones if a market
 * has had none for 300 ms more each. Each gateway observes its own source all the time; one that
 * simulates prices goes on from the log's when its turn comes.
 */
class IndexTurn {
  /** Markets whose walk of this process is not the log's. */
  private readonly following = new Set<number>();

  constructor(
    private readonly venue: Venue,
    private readonly source: RunningSource,
    private readonly intervalMs: number,
  ) {}

  isOurs(market: number, symbol: string): boolean {
    const { venue } = this;
    const { rank } = venue;
    const silentMs = venue.nowMs() - venue.indexAtMs(market);
    if (rank < 0 || (rank > 0 && silentMs < this.intervalMs + rank * STEP_IN_MS)) {
      this.following.add(market);
      return false;
    }
    if (!this.following.delete(market)) return true;
    // This price belongs to another walk; the next one is of the log's.
    const listed = venue.views.market(symbol);
    if (listed !== undefined) continueIndex(this.source, [listed]);
    return false;
  }
}
