/** A market order of a taker: an amount, and a worst price near the index. */

import type { NewOrder } from "@perpgate/sdk";
import {
  atLeastMinimum,
  exactTicks,
  type MarketTerms,
  marginFor,
  priceOfTicks,
} from "../market/market-terms.js";

type TakerSide = "long" | "short";

/** The default of `worst`. */
const WORST = 0.003;

export interface Taking {
  readonly side: TakerSide;
  readonly dollars: number;
  readonly leverage: number;
  /** Only closes; `dollars` is then a ceiling. */
  readonly reduceOnly?: boolean;
  /** How much worse than the index the price may be, as a part; 0.3 % by default. */
  readonly worst?: number;
}

export function takerOrder(terms: MarketTerms, index: number, taking: Taking): NewOrder {
  const { side, worst = WORST, reduceOnly = false } = taking;
  const leverage = Math.max(1, Math.min(taking.leverage, terms.maxLeverage));
  const dollars = atLeastMinimum(terms, taking.dollars, index * (1 + worst));
  const limit = exactTicks(terms, index * (side === "long" ? 1 + worst : 1 - worst));
  return {
    symbol: terms.symbol,
    side,
    type: "market",
    margin: marginFor(dollars, leverage),
    leverage,
    price: priceOfTicks(terms, Math.max(1, side === "long" ? Math.ceil(limit) : Math.floor(limit))),
    ...(reduceOnly ? { reduceOnly } : {}),
  };
}

/** Closes a part of a position. All of it: twice its value is a ceiling that it stays below. */
export function closing(size: number, index: number, part = 1): Taking {
  const dollars = Math.abs(size) * index * (part === 1 ? 2 : part);
  return { side: size > 0 ? "short" : "long", dollars, leverage: 1, reduceOnly: true };
}
