/**
 * A source of index prices. `observe` must not read a clock: the caller passes the time, which makes
 * a run repeatable.
 */

export interface IndexObservation {
  readonly symbol: string;
  /** Whole ticks of the market, at least one. */
  readonly priceTicks: number;
  /** Unix milliseconds at which the price held; its age decides whether it is stale. */
  readonly observedAtMs: number;
}

export interface IndexSource {
  readonly name: string;
  /** The latest observation of each market, in listing order. */
  observe(nowMs: number): readonly IndexObservation[];
}
