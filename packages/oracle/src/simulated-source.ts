/**
 * A simulated index: a geometric random walk per market, in whole ticks, with optional gusts.
 *
 * The same seed and the same observation times give the same prices; it reads no clock. A step
 * scales with the elapsed time, so after a pause there is one larger step, not many small ones. With
 * volatility 0 the price is constant.
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
/** The walk is limited to this distance from its start, which keeps the venue's integers small. */
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

  /** Gusts draw from their own sequence: with or without them a seed gives the same walk. */
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
   * Continues from a price, such as the last one before a restart of the venue: a walk that started
   * over would make the market jump with every restart. During a gust the price with the gust is
   * this one.
   */
  continueFrom(symbol: string, priceTicks: number): void {
    const walk = this.walks.find(({ market }) => market.symbol === symbol);
    if (walk === undefined) return;
    const gust = this.lastMs === undefined ? 0 : walk.gusts.offsetAt(this.lastMs);
    walk.drift = bounded(Math.log(priceTicks / walk.market.startTicks)) - gust;
  }

  observe(nowMs: number): readonly IndexObservation[] {
    // If the clock stepped back, no time has elapsed.
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
  // Subtracting half the variance keeps the expected price constant.
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
