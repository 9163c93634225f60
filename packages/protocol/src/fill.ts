/** Fills of the caller, newest first, in one total order. */

import { type Static, Type } from "typebox";
import { ClientOrderId, Side } from "./order.js";
import { Limit } from "./paging.js";
import { FILL_ID_PATTERN } from "./patterns.js";
import {
  BlockNumber,
  Dollars,
  LogPosition,
  MarketSymbol,
  Nullable,
  Price,
  Size,
  TimeMs,
} from "./scalar.js";

const FillId = Type.String({
  pattern: FILL_ID_PATTERN,
  description: "The log position of the fill, then its place within that command.",
});

export const Fill = Type.Object(
  {
    id: FillId,
    orderId: Nullable(LogPosition),
    kind: Type.Enum(["order", "liquidation", "backstop", "adl"]),
    symbol: MarketSymbol,
    side: Side,
    price: Price,
    size: Size,
    fee: Dollars,
    feeCurrency: Type.String({ description: "The market's quote, in which fees are paid." }),
    liquidity: Type.Enum(["maker", "taker"]),
    realizedPnl: Dollars,
    block: BlockNumber,
    time: TimeMs,
    clientOrderId: Nullable(ClientOrderId),
  },
  { title: "Fill" },
);
export type Fill = Static<typeof Fill>;
export const Fills = Type.Array(Fill);

export const FillsQuery = Type.Object({
  limit: Limit,
  before: Type.Optional(FillId),
});
export type FillsQuery = Static<typeof FillsQuery>;
