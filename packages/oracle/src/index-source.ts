/**
 * Where index prices come from.
 *
 * A source is asked at a time and answers with what it knows then. It must not read a clock of
 * its own for that answer: whoever runs it decides when it is, which makes a run repeatable.
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
