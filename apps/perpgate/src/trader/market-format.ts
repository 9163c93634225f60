/** Prices and sizes of a market as text, with as many decimals as its tick and lot have. */

import type { Market, PerpgateClient } from "@perpgate/sdk";
import { decimalsOf, fixed } from "../cli/quantities.js";
import type { TableCell } from "../cli/table.js";

export interface MarketFormat {
  readonly base: string;
  price(value: number | null): string;
  size(value: number): string;
}

/** For a market that is not listed: numbers as the venue sent them. */
export const UNLISTED: MarketFormat = {
  base: "",
  price: (value) => (value === null ? "-" : String(value)),
  size: String,
};

export type FormatOf = (symbol: string) => MarketFormat;

export async function marketFormats(client: PerpgateClient): Promise<FormatOf> {
  const listed = await client.markets();
  return (symbol) => formatIn(listed, symbol);
}

function formatIn(listed: readonly Market[], symbol: string): MarketFormat {
  const market = listed.find((each) => each.symbol === symbol);
  return market === undefined ? UNLISTED : formatOf(market);
}

export function formatOf({ base, tickSize, lotSize }: Market): MarketFormat {
  const [priceDecimals, sizeDecimals] = [decimalsOf(tickSize), decimalsOf(lotSize)];
  return {
    base,
    price: (value) => fixed(value, priceDecimals),
    size: (value) => fixed(value, sizeDecimals),
  };
}

export function sideCell({ side }: { readonly side: "long" | "short" }): TableCell {
  return { text: side, tone: side === "long" ? "good" : "bad" };
}
