/**
 * The estimate of an order: size, fills, fee, and the resulting position.
 *
 * Sizing and matching follow docs/engine.md ("PlaceOrder"). A resting part counts as filled at its
 * price, a stop as filled at its trigger with the mark at the trigger too. Wallet and price band are
 * not checked here; the venue rejects such orders.
 */

import type { OrderType } from "@perpgate/protocol";
import {
  divFloor,
  type Holding,
  MAX_ORDER_NOTIONAL_MICROS,
  mulDivCeil,
  mulDivFloor,
  PPM,
} from "@perpgate/protocol/core";
import type { MarketUnits } from "./market-units.js";
import { applyFill, closableLots, type Direction, liquidationTicks } from "./position-maths.js";

export interface OrderIntent {
  readonly direction: Direction;
  readonly type: OrderType;
  readonly marginMicros: number;
  readonly leverage: number;
  /** 0 for a market order without a worst price. */
  readonly priceTicks: number;
  readonly reduceOnly: boolean;
}

export interface PreviewContext {
  readonly units: MarketUnits;
  readonly markTicks: number;
  /** Levels of the opposite side, best first. */
  readonly opposite: Iterable<readonly [ticks: number, lots: number]>;
  readonly held: Holding;
}

export interface OrderPreview {
  /** Lots that fill immediately; 0 for a stop. */
  readonly takingLots: number;
  /** Lots that rest in the book or wait for the trigger. */
  readonly waitingLots: number;
  readonly notionalMicros: number;
  readonly feeMicros: number;
  /** Average price of all fills; 0 without fills. */
  readonly averageTicks: number;
  /** Debit of the wallet, fee included, once all lots have filled. */
  readonly walletMicros: number;
  readonly after: Holding;
  readonly liquidationTicks: number | null;
  /** Part of a market order that the book cannot fill. */
  readonly unspentMicros: number;
}

export function previewOrder(
  intent: OrderIntent,
  context: PreviewContext,
): OrderPreview | undefined {
  const budget = intent.marginMicros * intent.leverage;
  if (!(budget > 0 && budget <= MAX_ORDER_NOTIONAL_MICROS)) return undefined;
  if (context.markTicks <= 0) return undefined;
  switch (intent.type) {
    case "market":
      return previewMarket(intent, context, budget);
    case "limit":
      return intent.priceTicks > 0 ? previewLimit(intent, context, budget) : undefined;
    case "stop":
      return intent.priceTicks > 0 ? previewStop(intent, context, budget) : undefined;
  }
}

function previewMarket(intent: OrderIntent, context: PreviewContext, budget: number): OrderPreview {
  const totals = new Totals(intent, context);
  let left = budget;
  let lotsLeft = clamped(intent, context, Number.POSITIVE_INFINITY);
  for (const [ticks, lots] of context.opposite) {
    // Reduce-only is sized once, at the best price.
    if (intent.reduceOnly && left === budget) {
      lotsLeft = Math.min(lotsLeft, divFloor(budget, ticks * context.units.unit));
    }
    if (intent.priceTicks > 0 && intent.direction * (ticks - intent.priceTicks) > 0) break;
    const wanted = Math.min(divFloor(left, ticks * context.units.unit), lotsLeft);
    if (wanted <= 0) break;
    const taken = Math.min(wanted, lots);
    totals.take(taken, ticks);
    left -= taken * ticks * context.units.unit;
    lotsLeft -= taken;
    // The rest is less than a lot at this price; a worse bid is not reached.
    if (taken < lots) break;
  }
  const unspent = lotsLeft <= 0 || left < context.markTicks * context.units.unit ? 0 : left;
  return totals.result(0, unspent);
}

function previewLimit(intent: OrderIntent, context: PreviewContext, budget: number): OrderPreview {
  const { direction, priceTicks } = intent;
  const totals = new Totals(intent, context);
  const levels = [...crossing(context.opposite, direction, priceTicks)];
  // A short that crosses is sized at the better of its price and the best bid.
  const best = levels[0]?.[0] ?? priceTicks;
  const reference = direction < 0 ? Math.max(priceTicks, best) : priceTicks;
  let left = clamped(intent, context, divFloor(budget, reference * context.units.unit));
  for (const [ticks, lots] of levels) {
    if (left <= 0) break;
    const taken = Math.min(left, lots);
    totals.take(taken, ticks);
    left -= taken;
  }
  if (left > 0) totals.rest(left, priceTicks);
  return totals.result(left, 0);
}

function previewStop(intent: OrderIntent, context: PreviewContext, budget: number): OrderPreview {
  const totals = new Totals(intent, { ...context, markTicks: intent.priceTicks });
  const lots = clamped(intent, context, divFloor(budget, intent.priceTicks * context.units.unit));
  if (lots > 0) totals.trigger(lots, intent.priceTicks);
  return totals.result(lots, 0);
}

function clamped(intent: OrderIntent, { held }: PreviewContext, lots: number): number {
  return intent.reduceOnly ? Math.min(lots, closableLots(held, intent.direction)) : lots;
}

function* crossing(
  levels: PreviewContext["opposite"],
  direction: Direction,
  priceTicks: number,
): Iterable<readonly [number, number]> {
  for (const level of levels) {
    if (direction * (level[0] - priceTicks) > 0) return;
    yield level;
  }
}

/** The totals of one estimate. */
class Totals {
  private held: Holding;
  private takingLots = 0;
  private totalLots = 0;
  private notionalMicros = 0;
  private feeMicros = 0;
  private walletMicros = 0;

  constructor(
    private readonly intent: OrderIntent,
    private readonly context: PreviewContext,
  ) {
    this.held = context.held;
  }

  take(lots: number, ticks: number): void {
    this.takingLots += lots;
    this.fill(lots, ticks, this.context.units.takerPpm);
  }

  rest(lots: number, ticks: number): void {
    this.fill(lots, ticks, this.context.units.makerPpm);
  }

  trigger(lots: number, ticks: number): void {
    this.fill(lots, ticks, this.context.units.takerPpm);
  }

  result(waitingLots: number, unspentMicros: number): OrderPreview {
    const { units } = this.context;
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
    const { units, markTicks } = this.context;
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

/** The largest margin, in micros, that a wallet can pay together with the taker fee on it. */
export function largestMargin(walletMicros: number, leverage: number, takerPpm: number): number {
  if (walletMicros <= 0) return 0;
  const fits = (margin: number): boolean =>
    margin + mulDivCeil(margin * leverage, takerPpm, PPM) <= walletMicros;
  let margin = Math.min(
    mulDivFloor(walletMicros, PPM, PPM + leverage * takerPpm) + 1,
    Math.floor(MAX_ORDER_NOTIONAL_MICROS / leverage),
  );
  // The fee is rounded up, so the closed form may be too high by a micro or two.
  while (margin > 0 && !fits(margin)) margin--;
  return margin;
}
