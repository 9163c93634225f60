/** A listed market with what the page derives from it once: integers and digits. */

import type { Market } from "@perpgate/protocol/market";
import { digitsOfStep, formatFixed } from "../format/numbers.js";
import { type MarketUnits, unitsOfMarket } from "../maths/market-units.js";

export interface MarketView {
  readonly market: Market;
  readonly units: MarketUnits;
  readonly priceDigits: number;
  readonly sizeDigits: number;
}

export function viewOf(market: Market): MarketView {
  return {
    market,
    units: unitsOfMarket(market),
    priceDigits: digitsOfStep(market.tickSize),
    sizeDigits: digitsOfStep(market.lotSize),
  };
}

export function priceText(view: MarketView | undefined, price: number | null | undefined): string {
  return formatFixed(price, view?.priceDigits ?? 2);
}

export function sizeText(view: MarketView | undefined, size: number | null | undefined): string {
  return formatFixed(size, view?.sizeDigits ?? 4);
}
