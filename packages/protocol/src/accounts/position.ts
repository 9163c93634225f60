/** One net position per market, isolated margin. */

import { type Static, Type } from "typebox";
import { Side } from "../orders/order.js";
import { Dollars, MarketSymbol, Nullable, Price, TimeMs } from "../text/scalar.js";

export const Position = Type.Object(
  {
    symbol: MarketSymbol,
    side: Side,
    size: Type.Number({ description: "Signed; short is negative." }),
    avgEntry: Price,
    markPrice: Price,
    liquidationPrice: Nullable(Price),
    margin: Dollars,
    leverage: Type.Number({ description: "Notional at entry over margin." }),
    unrealizedPnl: Dollars,
    realizedPnl: Dollars,
    fundingPaid: Dollars,
    updatedAt: TimeMs,
  },
  { title: "Position" },
);
export type Position = Static<typeof Position>;
export const Positions = Type.Array(Position);
