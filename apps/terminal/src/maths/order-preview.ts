/**
 * The estimate of an order: size, fills, fee, and the resulting position.
 *
 * Sizing and matching follow docs/engine.md ("PlaceOrder"). A resting part counts as filled at its
 * price, a stop as filled at its trigger with the mark at the trigger too. Wallet and price band are
 * not checked here; see largest-order.ts for the wallet.
 */

import type { OrderType, TimeInForce } from "@perpgate/protocol";
import { divFloor, type Holding, MAX_ORDER_NOTIONAL_MICROS } from "@perpgate/protocol/core";
import type { MarketInUnits } from "./market-units.js";
import { applyFill, closableLots, type Direction, liquidationTicks } from "./position-maths.js";

export interface OrderIntent {
  readonly direction: Direction;
  readonly type: OrderType;
  /** Margin × leverage is the order's notional, unless it has a size. */
  readonly marginMicros: number;
  readonly leverage: number;
  /** 0 for a market order without a worst price. */
  readonly priceTicks: number;
  readonly reduceOnly: boolean;
  /** The exact size; 0 if money sizes the order. */
  readonly sizeLots?: number;
  /** Of a limit order; `gtc` by default. */
  readonly timeInForce?: TimeInForce;
}

export interface PreviewContext {
  readonly units: MarketInUnits;
  readonly markTicks: number;
  /** Levels of the opposite side, best first, without the trader's own orders. */
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
  /** The worst price of a fill; 0 without fills. */
  readonly lastTicks: number;
  /** What the fills that open cost against the mark. */
  readonly lossMicros: number;
  /** Debit of the wallet, fee included, once all lots have filled; negative for a credit. */
  readonly walletMicros: number;
  readonly after: Holding;
  readonly liquidationTicks: number | null;
  /** Value at the mark of the part that the book cannot fill and that does not wait. */
  readonly unspentMicros: number;
}

export function previewOrder(
  intent: OrderIntent,
  context: PreviewContext,
): OrderPreview | undefined {
  const { sizeLots = 0 } = intent;
  const budget = sizeLots > 0 ? Number.POSITIVE_INFINITY : intent.marginMicros * intent.leverage;
  const value = sizeLots > 0 ? sizeLots * context.markTicks * context.units.unit : budget;
  if (!(value > 0 && value <= MAX_ORDER_NOTIONAL_MICROS)) return undefined;
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

/** The value of the whole order, however much of it the book could fill now. */
export function valueMicros(
  intent: OrderIntent,
  markTicks: number,
  { unit }: MarketInUnits,
): number {
  const { direction, type, priceTicks, sizeLots = 0 } = intent;
  if (sizeLots === 0) return intent.marginMicros * intent.leverage;
  if (type === "market") return sizeLots * markTicks * unit;
  // A limit below the mark sells near the mark.
  const ticks = type === "limit" && direction < 0 ? Math.max(markTicks, priceTicks) : priceTicks;
  return sizeLots * ticks * unit;
}

function previewMarket(intent: OrderIntent, context: PreviewContext, budget: number): OrderPreview {
  const totals = new Totals(intent, context);
  const { unit } = context.units;
  let left = budget;
  let lotsLeft = clamped(intent, context, intent.sizeLots || Number.POSITIVE_INFINITY);
  for (const [ticks, lots] of context.opposite) {
    // Reduce-only is sized once, at the best price.
    if (intent.reduceOnly && left === budget) {
      lotsLeft = Math.min(lotsLeft, lotsFor(budget, ticks * unit));
    }
    if (intent.priceTicks > 0 && intent.direction * (ticks - intent.priceTicks) > 0) break;
    const wanted = Math.min(lotsFor(left, ticks * unit), lotsLeft);
    // Less than a lot at this price: the order is done.
    if (wanted <= 0) return totals.result(0, 0);
    const taken = Math.min(wanted, lots);
    totals.take(taken, ticks);
    left -= taken * ticks * unit;
    lotsLeft -= taken;
    // As above; a worse bid is not reached.
    if (taken < lots) return totals.result(0, 0);
  }
  const lotValue = context.markTicks * unit;
  const unspent = Math.min(left, lotsLeft * lotValue);
  return totals.result(0, lotsLeft <= 0 || unspent < lotValue ? 0 : unspent);
}

function previewLimit(intent: OrderIntent, context: PreviewContext, budget: number): OrderPreview {
  const { direction, priceTicks, timeInForce = "gtc" } = intent;
  const levels = [...crossing(context.opposite, direction, priceTicks)];
  // A short that crosses is sized at the better of its price and the best bid.
  const best = levels[0]?.[0] ?? priceTicks;
  const reference = direction < 0 ? Math.max(priceTicks, best) : priceTicks;
  const sized = intent.sizeLots || divFloor(budget, reference * context.units.unit);
  const lots = clamped(intent, context, sized);
  const offered = levels.reduce((sum, level) => sum + level[1], 0);
  if (timeInForce === "fok" && offered < lots) {
    const unspent = lots * context.markTicks * context.units.unit;
    return new Totals(intent, context).result(0, unspent);
  }
  const totals = new Totals(intent, context);
  let left = lots;
  for (const [ticks, depth] of levels) {
    if (left <= 0) break;
    const taken = Math.min(left, depth);
    totals.take(taken, ticks);
    left -= taken;
  }
  if (timeInForce !== "gtc") {
    return totals.result(0, left * context.markTicks * context.units.unit);
  }
  if (left > 0) totals.rest(left, priceTicks);
  return totals.result(left, 0);
}

function previewStop(intent: OrderIntent, context: PreviewContext, budget: number): OrderPreview {
  const totals = new Totals(intent, { ...context, markTicks: intent.priceTicks });
  const sized = intent.sizeLots || divFloor(budget, intent.priceTicks * context.units.unit);
  const lots = clamped(intent, context, sized);
  if (lots > 0) totals.trigger(lots, intent.priceTicks);
  return totals.result(lots, 0);
}

/** An order with a size has no budget: Infinity. */
function lotsFor(budget: number, lotMicros: number): number {
  return budget === Number.POSITIVE_INFINITY ? budget : divFloor(budget, lotMicros);
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
  private lastTicks = 0;
  private notionalMicros = 0;
  private feeMicros = 0;
  private lossMicros = 0;
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
    const { held } = this;
    return {
      takingLots: this.takingLots,
      waitingLots,
      notionalMicros: this.notionalMicros,
      feeMicros: this.feeMicros,
      averageTicks: this.totalLots === 0 ? 0 : this.notionalMicros / (this.totalLots * units.unit),
      lastTicks: this.lastTicks,
      lossMicros: this.lossMicros,
      walletMicros: this.walletMicros,
      after: held,
      // Costs more than the rest, and a search for the largest order does not read it.
      get liquidationTicks() {
        return liquidationTicks(units, held);
      },
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
    this.lastTicks = ticks;
    this.totalLots += lots;
    this.notionalMicros += lots * ticks * units.unit;
    this.feeMicros += effect.feeMicros;
    this.lossMicros += effect.lossMicros;
    this.walletMicros += effect.walletMicros;
  }
}
