/** A listed market with values derived from it once: integers and decimal places. */

import type { Market } from "@perpgate/protocol";
import { digitsOfStep, formatFixed } from "../format/numbers.js";
import { type MarketInUnits, unitsOfMarket } from "../maths/market-units.js";
import { t } from "../text/texts.js";

export interface MarketView {
  readonly market: Market;
  readonly units: MarketInUnits;
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

/** Whether two listings are equal except for prices and funding. */
export function isListedAs(a: Market, b: Market): boolean {
  return listing(a) === listing(b);
}

function listing(market: Market): string {
  const { markPrice, indexPrice, fundingRate, nextFundingAt, ...rest } = market;
  return JSON.stringify(rest);
}

/** Why no order is taken, whatever it is; undefined if some are. */
export function closedText({ status }: Pick<Market, "status">): string | undefined {
  return status === "active" || status === "reduceOnly" ? undefined : t.problems.closed[status];
}

export function closedTextOf(view: MarketView | undefined): string | undefined {
  return view === undefined ? undefined : closedText(view.market);
}

export function priceText(view: MarketView | undefined, price: number | null | undefined): string {
  return formatFixed(price, view?.priceDigits ?? 2);
}

export function sizeText(view: MarketView | undefined, size: number | null | undefined): string {
  return formatFixed(size, view?.sizeDigits ?? 4);
}
