/** A snapshot of the order book, best prices first. */

import { type Static, Type } from "typebox";
import { Depth } from "../http/paging.js";
import { BlockNumber, MarketSymbol, TimeMs } from "../text/scalar.js";

/** Price and size. A homogeneous pair, because OpenAPI tools read tuples poorly. */
export const BookLevel = Type.Array(Type.Number(), {
  minItems: 2,
  maxItems: 2,
  description: "[price, size]",
});

export const Book = Type.Object(
  {
    symbol: MarketSymbol,
    seq: Type.Integer({ description: "The log position this snapshot reflects." }),
    block: BlockNumber,
    time: TimeMs,
    bids: Type.Array(BookLevel),
    asks: Type.Array(BookLevel),
  },
  { title: "Book" },
);
export type Book = Static<typeof Book>;

export const BookQuery = Type.Object({ depth: Depth });
