/** Prices and sizes of a market with as many decimals as its steps have. */

import type { Market, PerpgateClient } from "@perpgate/sdk";
import { decimalsOf, fixed } from "../cli/quantities.js";

export interface MarketWords {
  readonly base: string;
  price(value: number | null): string;
  size(value: number): string;
}

/** For a market that is not listed, numbers are shown as they came. */
const UNLISTED: MarketWords = {
  base: "",
  price: (value) => (value === null ? "-" : String(value)),
  size: String,
};

export async function marketWords(
  client: PerpgateClient,
): Promise<(symbol: string) => MarketWords> {
  const words = new Map((await client.markets()).map((market) => [market.symbol, wordsOf(market)]));
  return (symbol) => words.get(symbol) ?? UNLISTED;
}

export function wordsOf({ base, tickSize, lotSize }: Market): MarketWords {
  const [priceDecimals, sizeDecimals] = [decimalsOf(tickSize), decimalsOf(lotSize)];
  return {
    base,
    price: (value) => fixed(value, priceDecimals),
    size: (value) => fixed(value, sizeDecimals),
  };
}
