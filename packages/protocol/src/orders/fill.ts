/** Fills of the caller, newest first, in one total order. */

import { type Static, Type } from "typebox";
import { ENTRY_CURSORS, EntryId, Limit, TIME_SPAN } from "../http/paging.js";
import {
  BlockNumber,
  Dollars,
  MarketSymbol,
  Nullable,
  OrderId,
  Price,
  Size,
  TimeMs,
} from "../text/scalar.js";
import { ClientOrderId, Side } from "./order.js";

export const Fill = Type.Object(
  {
    id: EntryId,
    orderId: Nullable(OrderId),
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
  symbol: Type.Optional(MarketSymbol),
  limit: Limit,
  ...ENTRY_CURSORS,
  ...TIME_SPAN,
});
export type FillsQuery = Static<typeof FillsQuery>;
