/**
 * A simulated index: a geometric random walk on ticks, one per market, with gusts if wanted.
 *
 * In: a seed, a start price and a volatility per market, and the times it is asked at. Out: whole
 * ticks. The same seed asked at the same times gives the same prices; it reads no clock. A step
 * scales with the time that passed, so a process that slept takes one larger step and not a
 * million small ones. Volatility 0 holds the price still.
 */

import { Random } from "@perpgate/protocol/random";
import { Gusts } from "./gusts.js";
import type { IndexObservation, IndexSource } from "./index-source.js";

export interface SimulatedMarket {
  readonly symbol: string;
  readonly startTicks: number;
  /** Standard deviation of a year's log return. */
  readonly annualVolatility: number;
}

const YEAR_MS = 365 * 24 * 3_600_000;
/** A walk that strays this far from its start is held there: the venue's integers stay small. */
const MAX_DRIFT = Math.log(1_000);

interface Walk {
  readonly market: SimulatedMarket;
  readonly random: Random;
  readonly gusts: Gusts;
  /** Log of the price over the start price. */
  drift: number;
}

export class SimulatedIndexSource implements IndexSource {
  readonly name = "simulated";
  private readonly walks: readonly Walk[];
  private lastMs: number | undefined;

  /** Draws of gusts are their own: with or without them a seed has the same walk. */
  constructor(markets: readonly SimulatedMarket[], seed: number, gustsPerHour = 0) {
    this.walks = markets.map((market) => {
      const { symbol, annualVolatility } = market;
      return {
        market,
        random: new Random(seed, symbol),
        gusts: new Gusts(new Random(seed, `${symbol}/gusts`), gustsPerHour, annualVolatility),
        drift: 0,
      };
    });
  }

  /**
   * Goes on from a price, such as the one at which the venue stopped: a walk that began at its start
   * again would be a crash of the market with every restart.
   */
  continueFrom(symbol: string, priceTicks: number): void {
    const walk = this.walks.find(({ market }) => market.symbol === symbol);
    if (walk !== undefined) walk.drift = bounded(Math.log(priceTicks / walk.market.startTicks));
  }

  observe(nowMs: number): readonly IndexObservation[] {
    // A clock that stepped back moves nothing; time counts on from where it was.
    const observedAtMs = Math.max(nowMs, this.lastMs ?? nowMs);
    const elapsedMs = observedAtMs - (this.lastMs ?? observedAtMs);
    this.lastMs = observedAtMs;
    return this.walks.map((walk) => {
      if (elapsedMs > 0) step(walk, elapsedMs);
      return { symbol: walk.market.symbol, priceTicks: ticksOf(walk, observedAtMs), observedAtMs };
    });
  }
}

function step(walk: Walk, elapsedMs: number): void {
  const variance = walk.market.annualVolatility ** 2 * (elapsedMs / YEAR_MS);
  if (variance === 0) return;
  // Half the variance is taken off so that the expected price stays where it is.
  const change = Math.sqrt(variance) * walk.random.normal() - variance / 2;
  walk.drift = bounded(walk.drift + change);
}

function bounded(drift: number): number {
  return Math.min(MAX_DRIFT, Math.max(-MAX_DRIFT, drift));
}

function ticksOf({ market, drift, gusts }: Walk, nowMs: number): number {
  const blown = bounded(drift + gusts.offsetAt(nowMs));
  return Math.max(1, Math.round(market.startTicks * Math.exp(blown)));
}
