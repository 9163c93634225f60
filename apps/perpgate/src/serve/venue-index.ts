/**
 * The index of a venue: the source of the settings, and the feed that sends its prices to the venue.
 *
 * Both use the venue's time as it never goes back. With the wall clock, a clock that is set back would
 * make new prices older than those that the venue has.
 */

import type { FeedProblem, IndexObservation } from "@perpgate/oracle";
import { INDEX_STALE_MS } from "@perpgate/protocol/core";
import { type FirstOfEpoch, NO_EVIDENCE, TICK_MS, type Venue } from "@perpgate/venue";
import { IndexFeed } from "./index-feed.js";
import { continueIndex, createIndexSource, type RunningSource } from "./index-source.js";
import type { Settings } from "./settings.js";

/** For prices when this core begins to lead; what clients ask for waits as long. */
const POLL_MS = 500;

export interface VenueIndex {
  readonly source: RunningSource;
  readonly feed: IndexFeed;
  /** Replaces the source by that of these settings if they have markets that it lacks. */
  addMarkets(settings: Settings): Promise<void>;
}

interface IndexCallbacks {
  /** One of several feeds failed. */
  onProblem(problem: FeedProblem): void;
  /** The source failed. */
  onFailure(error: unknown): void;
  /** The source was replaced, for all of these markets. */
  onReplaced(source: string, symbols: readonly string[]): void;
  /** The market was listed with another tick than that of the settings, so its prices are dropped. */
  onOtherTick(symbol: string, tickSize: number, listed: number): void;
}

export function createVenueIndex(
  settings: Settings,
  venue: Venue,
  wallClock: () => number,
  { onProblem, onFailure, onReplaced, onOtherTick }: IndexCallbacks,
): VenueIndex {
  const clock = () => venue.steadyMs();
  const sourceOf = (wanted: Settings): RunningSource => {
    const made = createIndexSource(wanted, { now: clock, wall: wallClock }, onProblem);
    continueIndex(made, venue.views.markets());
    return made;
  };
  const ticks = new TickSizes(venue, settings, onOtherTick);
  const source = new ReplaceableSource(sourceOf(settings), ({ symbol }) => ticks.fit(symbol));
  const symbols = () => symbolsDue(venue, ticks);
  const turn = new IndexTurn(venue, source);
  const publish = (observation: IndexObservation) => publishTo(venue, observation);
  venue.firstOfEpoch = () => turn.begin(onFailure);
  const feed = new IndexFeed({ source, symbols, clock, publish, onFailure });
  const addMarkets = async (wanted: Settings): Promise<void> => {
    const next = wanted.markets.map(({ symbol }) => symbol);
    if (next.every((symbol) => ticks.fit(symbol))) return;
    await source.replace(sourceOf(wanted), () => ticks.use(wanted));
    onReplaced(source.name, next);
    await feed.refresh();
  };
  return { source, feed, addMarkets };
}

/**
 * The ticks in which the source gives its prices. A market of the file that `perpgate configure` lists at
 * another gateway may get another tick there.
 */
class TickSizes {
  private sizes = new Map<string, number>();
  private readonly reported = new Set<string>();

  constructor(
    private readonly venue: Venue,
    settings: Settings,
    private readonly onOtherTick: IndexCallbacks["onOtherTick"],
  ) {
    this.use(settings);
  }

  use({ markets }: Settings): void {
    this.sizes = new Map(markets.map(({ symbol, tickSize }) => [symbol, tickSize]));
    this.reported.clear();
  }

  /** Whether the source has prices of the market in its tick. */
  fit(symbol: string): boolean {
    const size = this.sizes.get(symbol);
    if (size === undefined) return false;
    const listed = this.venue.views.market(symbol)?.tickSize;
    if (listed === undefined || listed === size) return true;
    if (!this.reported.has(symbol)) this.onOtherTick(symbol, size, listed);
    this.reported.add(symbol);
    return false;
  }
}

/** Markets that this process feeds, and those that it does not feed and no other gateway does. */
function symbolsDue(venue: Venue, ticks: TickSizes): string[] {
  const staleBelowMs = venue.steadyMs() - INDEX_STALE_MS;
  return venue.views.markets().flatMap(({ symbol, status }, number) => {
    // The engine takes no index in the other states.
    if (status !== "active" && status !== "reduceOnly") return [];
    return ticks.fit(symbol) || venue.indexAtMs(number) < staleBelowMs ? [symbol] : [];
  });
}

/** The source in use, which `perpgate configure` may replace. */
class ReplaceableSource implements RunningSource {
  constructor(
    private current: RunningSource,
    private readonly isUsable: (observation: IndexObservation) => boolean,
  ) {}

  get name(): string {
    return this.current.name;
  }

  observe(nowMs: number): readonly IndexObservation[] {
    return this.current.observe(nowMs).filter(this.isUsable);
  }

  continueFrom(symbol: string, priceTicks: number): void {
    this.current.continueFrom?.(symbol, priceTicks);
  }

  /** As `refresh`; undefined if the source does not poll. */
  polled(isEnough: () => boolean): Promise<void> | undefined {
    return this.current.refresh?.(isEnough);
  }

  async start(): Promise<void> {
    await this.current.start?.();
  }

  async stop(): Promise<void> {
    await this.current.stop?.();
  }

  /** The earlier source serves until the next one has its first prices. */
  async replace(next: RunningSource, onReplaced: () => void): Promise<void> {
    await next.start?.();
    const earlier = this.current;
    this.current = next;
    onReplaced();
    await earlier.stop?.();
  }
}

/** Resolves once the price is applied or cannot be. */
function publishTo(
  venue: Venue,
  { symbol, priceTicks, observedAtMs }: IndexObservation,
): Promise<void> {
  return new Promise<void>((resolve) => {
    const market = venue.views.marketNumber(symbol);
    // A core that stands by observes its own source all the time.
    if (market === undefined || venue.isStopped || !venue.isLeading) {
      resolve();
      return;
    }
    const command = updateOf(market, priceTicks, observedAtMs, venue.steadyMs());
    venue.submit(command, NO_EVIDENCE, () => resolve());
  });
}

function updateOf(market: number, indexTicks: number, observedAtMs: number, stampMs: number) {
  const slot = slotOf(observedAtMs);
  return { kind: "UpdateIndex", stampMs, market, indexTicks, slot } as const;
}

function slotOf(timeMs: number): number {
  return Math.floor(timeMs / TICK_MS);
}

/** A core's turn to propose prices. One that simulates them goes on from the log's. */
class IndexTurn {
  constructor(
    private readonly venue: Venue,
    private readonly source: ReplaceableSource,
  ) {}

  /**
   * This core begins to lead: the prices of its source, for the first batch with what clients ask for. Every
   * market awaits a price from the claim on. A source that polls is asked for one, since it has only older
   * ones, for `POLL_MS` at most.
   */
  begin(onFailure: (error: unknown) => void): FirstOfEpoch {
    const { venue, source } = this;
    const orNone = <T>(read: () => T, none: T): T => {
      try {
        return read();
      } catch (error) {
        onFailure(error);
        return none;
      }
    };
    continueIndex(source, venue.views.markets());
    const prices = () => orNone(() => this.prices(), []);
    const claimed = slotOf(venue.views.timeMs);
    const isEnough = () => this.prices().every(({ slot }) => slot >= claimed);
    const polled = source.polled(() => orNone(isEnough, true));
    if (polled === undefined) return prices();
    const late = new Promise<void>((resolve) => setTimeout(resolve, POLL_MS).unref());
    return Promise.race([polled, late]).then(prices);
  }

  /** By the wall clock's time: the log's stood still while no core led. */
  private prices() {
    const { venue, source } = this;
    const stampMs = venue.nowMs();
    return source.observe(stampMs).flatMap(({ symbol, priceTicks, observedAtMs }) => {
      const market = venue.views.marketNumber(symbol);
      return market === undefined ? [] : [updateOf(market, priceTicks, observedAtMs, stampMs)];
    });
  }
}
