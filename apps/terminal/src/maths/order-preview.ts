/**
 * What an order would do now: size, fills, fee, and the position it leads to.
 *
 * In: the order in integers, the book's opposite side, the mark and the held position. Out: the
 * numbers that the form shows before sending. Sizing and matching follow docs/engine.md
 * ("PlaceOrder"); what rests is counted as filled at its price, a stop as filled at its trigger with
 * the mark there too. It knows neither the wallet nor the band: those refusals are the venue's.
 */

import type { OrderType } from "@perpgate/protocol";
import { divFloor, type Holding } from "@perpgate/protocol/core";
import { liquidationTicks } from "./liquidation.js";
import type { MarketUnits } from "./market-units.js";
import { applyFill, closableLots, type Direction } from "./position-maths.js";

/** The venue takes no order of more than this. */
export const MAX_NOTIONAL_MICROS = 1e15;

export interface OrderIntent {
  readonly direction: Direction;
  readonly type: OrderType;
  readonly marginMicros: number;
  readonly leverage: number;
  /** 0 for a market order without a worst price. */
  readonly priceTicks: number;
  readonly reduceOnly: boolean;
}

export interface MarketSight {
  readonly units: MarketUnits;
  readonly markTicks: number;
  /** The side that the order would take from, best first: ticks and lots. */
  readonly opposite: Iterable<readonly [ticks: number, lots: number]>;
  readonly held: Holding;
}

export interface OrderPreview {
  /** Lots that fill at once; all of a stop's lots wait. */
  readonly takingLots: number;
  /** Lots that rest or wait. */
  readonly waitingLots: number;
  readonly notionalMicros: number;
  readonly feeMicros: number;
  /** Average over everything counted as filled; 0 where nothing is. */
  readonly averageTicks: number;
  /** What leaves the wallet, fee included, once all has filled. */
  readonly walletMicros: number;
  readonly after: Holding;
  readonly liquidationTicks: number | null;
  /** Money of a market order that the book cannot take. */
  readonly unspentMicros: number;
}

export function previewOrder(intent: OrderIntent, sight: MarketSight): OrderPreview | undefined {
  const budget = intent.marginMicros * intent.leverage;
  if (!(budget > 0 && budget <= MAX_NOTIONAL_MICROS)) return undefined;
  if (sight.markTicks <= 0) return undefined;
  switch (intent.type) {
    case "market":
      return previewMarket(intent, sight, budget);
    case "limit":
      return intent.priceTicks > 0 ? previewLimit(intent, sight, budget) : undefined;
    case "stop":
      return intent.priceTicks > 0 ? previewStop(intent, sight, budget) : undefined;
  }
}

function previewMarket(intent: OrderIntent, sight: MarketSight, budget: number): OrderPreview {
  const run = new Run(intent, sight);
  let left = budget;
  let lotsLeft = clamped(intent, sight, Number.POSITIVE_INFINITY);
  for (const [ticks, lots] of sight.opposite) {
    // Reduce-only is sized once, at the best price: cheaper bids further down make it no larger.
    if (intent.reduceOnly && left === budget) {
      lotsLeft = Math.min(lotsLeft, divFloor(budget, ticks * sight.units.unit));
    }
    if (intent.priceTicks > 0 && intent.direction * (ticks - intent.priceTicks) > 0) break;
    const wanted = Math.min(divFloor(left, ticks * sight.units.unit), lotsLeft);
    if (wanted <= 0) break;
    const taken = Math.min(wanted, lots);
    run.take(taken, ticks);
    left -= taken * ticks * sight.units.unit;
    lotsLeft -= taken;
    // A sale reaches cheaper bids, and its last money would buy a lot there, but none is passed over.
    if (taken < lots) break;
  }
  const unspent = lotsLeft <= 0 || left < sight.markTicks * sight.units.unit ? 0 : left;
  return run.result(0, unspent);
}

function previewLimit(intent: OrderIntent, sight: MarketSight, budget: number): OrderPreview {
  const { direction, priceTicks } = intent;
  const run = new Run(intent, sight);
  const levels = [...crossing(sight.opposite, direction, priceTicks)];
  // A short that crosses is sized at the better of its price and the best bid.
  const best = levels[0]?.[0] ?? priceTicks;
  const reference = direction < 0 ? Math.max(priceTicks, best) : priceTicks;
  let left = clamped(intent, sight, divFloor(budget, reference * sight.units.unit));
  for (const [ticks, lots] of levels) {
    if (left <= 0) break;
    const taken = Math.min(left, lots);
    run.take(taken, ticks);
    left -= taken;
  }
  if (left > 0) run.rest(left, priceTicks);
  return run.result(left, 0);
}

function previewStop(intent: OrderIntent, sight: MarketSight, budget: number): OrderPreview {
  const run = new Run(intent, { ...sight, markTicks: intent.priceTicks });
  const lots = clamped(intent, sight, divFloor(budget, intent.priceTicks * sight.units.unit));
  if (lots > 0) run.trigger(lots, intent.priceTicks);
  return run.result(lots, 0);
}

function clamped(intent: OrderIntent, { held }: MarketSight, lots: number): number {
  return intent.reduceOnly ? Math.min(lots, closableLots(held, intent.direction)) : lots;
}

function* crossing(
  levels: MarketSight["opposite"],
  direction: Direction,
  priceTicks: number,
): Iterable<readonly [number, number]> {
  for (const level of levels) {
    if (direction * (level[0] - priceTicks) > 0) return;
    yield level;
  }
}

/** The sums of one preview, fill by fill. */
class Run {
  private held: Holding;
  private takingLots = 0;
  private totalLots = 0;
  private notionalMicros = 0;
  private feeMicros = 0;
  private walletMicros = 0;

  constructor(
    private readonly intent: OrderIntent,
    private readonly sight: MarketSight,
  ) {
    this.held = sight.held;
  }

  take(lots: number, ticks: number): void {
    this.takingLots += lots;
    this.fill(lots, ticks, this.sight.units.takerPpm);
  }

  rest(lots: number, ticks: number): void {
    this.fill(lots, ticks, this.sight.units.makerPpm);
  }

  trigger(lots: number, ticks: number): void {
    this.fill(lots, ticks, this.sight.units.takerPpm);
  }

  result(waitingLots: number, unspentMicros: number): OrderPreview {
    const { units } = this.sight;
    return {
      takingLots: this.takingLots,
      waitingLots,
      notionalMicros: this.notionalMicros,
      feeMicros: this.feeMicros,
      averageTicks: this.totalLots === 0 ? 0 : this.notionalMicros / (this.totalLots * units.unit),
      walletMicros: this.walletMicros,
      after: this.held,
      liquidationTicks: liquidationTicks(units, this.held),
      unspentMicros,
    };
  }

  private fill(lots: number, ticks: number, feePpm: number): void {
    const { direction, leverage } = this.intent;
    const { units, markTicks } = this.sight;
    const effect = applyFill(units, this.held, {
      direction,
      lots,
      ticks,
      markTicks,
      leverage,
      feePpm,
    });
    this.held = effect.after;
    this.totalLots += lots;
    this.notionalMicros += lots * ticks * units.unit;
    this.feeMicros += effect.feeMicros;
    this.walletMicros += effect.walletMicros;
  }
}
