/**
 * A market as a bot needs it: tick, lot and the scale of its amounts.
 *
 * Amounts scale with the market's tiers: a market with tiers of a thousand dollars is quoted in cents,
 * one with tiers of millions in thousands.
 */

import type { Market, Step } from "@perpgate/protocol";
import { fromSteps, stepOf } from "@perpgate/protocol/core";

/** Dollars of the largest level, in a market with large tiers. */
const LARGEST_LEVEL = 15_000;
/** A level is at most this part of the largest position. */
const PART_OF_LARGEST_POSITION = 1 / 100;
/** Between the smallest and the largest level: three orders of magnitude. */
export const SIZE_RANGE = 1_000;
/** With one lot, a slightly higher price would round the level to nothing. */
const FEWEST_LOTS = 2;

export interface MarketTerms {
  readonly symbol: string;
  readonly tick: Step;
  readonly lotSize: number;
  /** Dollars that an order which opens must be worth. */
  readonly minNotional: number;
  /** Dollars of the largest level. */
  readonly largest: number;
  /** 1 if the tiers allow the usual amounts, less for smaller tiers. */
  readonly scale: number;
  readonly maxLeverage: number;
  /** Positions up to this many dollars may have `maxLeverage`. */
  readonly firstTier: number;
}

export function marketTerms(market: Market): MarketTerms {
  const { symbol, tickSize, lotSize, minNotional, maxLeverage, tiers } = market;
  const largestPosition = tiers.at(-1)?.notionalUpTo ?? 0;
  const largest = Math.min(LARGEST_LEVEL, largestPosition * PART_OF_LARGEST_POSITION);
  return {
    symbol,
    tick: stepOf(tickSize),
    lotSize,
    minNotional,
    largest,
    scale: largest / LARGEST_LEVEL,
    maxLeverage,
    firstTier: tiers[0]?.notionalUpTo ?? 0,
  };
}

/** The price of a number of ticks, as on the wire. */
export function priceOfTicks(terms: MarketTerms, ticks: number): number {
  return fromSteps(ticks, terms.tick);
}

/** Ticks of a price; not rounded. */
export function exactTicks(terms: MarketTerms, price: number): number {
  return price / terms.tick.size;
}

/** Raises the amount to the least that the market takes, and to the value of a few lots. */
export function atLeastMinimum(terms: MarketTerms, dollars: number, price: number): number {
  return Math.max(dollars, terms.minNotional, FEWEST_LOTS * terms.lotSize * price);
}

/** The size of a notional at a price: rounded up to whole lots, so that it stays above a minimum. */
export function wholeLotSize({ lotSize }: MarketTerms, dollars: number, price: number): number {
  const lots = Math.ceil(dollars / (price * lotSize) - 1e-9);
  return fromSteps(Math.max(1, lots), stepOf(lotSize));
}

/** The margin for a notional: in whole cents from one dollar on, else in micro-dollars. */
export function marginFor(dollars: number, leverage: number): number {
  const margin = dollars / leverage;
  return margin < 1 ? Math.ceil(margin * 1e6) / 1e6 : Math.ceil(margin * 100) / 100;
}
