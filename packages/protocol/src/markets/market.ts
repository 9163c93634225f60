/** A market on the wire. Prices are null until the first index price. */

import { type Static, Type } from "typebox";
import { Dollars, MarketSymbol, Nullable, Price, Rate, Size, TimeMs } from "../text/scalar.js";

export const Tier = Type.Object(
  {
    notionalUpTo: Dollars,
    maxLeverage: Type.Integer({ minimum: 1 }),
    maintenanceRate: Rate,
  },
  { title: "Tier" },
);
export type Tier = Static<typeof Tier>;

/** `reduceOnly` opens nothing; in the others nothing runs but cancels; `settled` is final. */
export const MarketStatus = Type.Enum(["active", "reduceOnly", "halted", "settling", "settled"]);

export const Market = Type.Object(
  {
    symbol: MarketSymbol,
    base: Type.String(),
    quote: Type.String(),
    maxLeverage: Type.Integer({ minimum: 1 }),
    tickSize: Price,
    lotSize: Size,
    markPrice: Nullable(Price),
    indexPrice: Nullable(Price),
    fundingRate: Nullable(Rate),
    nextFundingAt: Nullable(TimeMs),
    makerFee: Rate,
    takerFee: Rate,
    tiers: Type.Array(Tier),
    minNotional: Dollars,
    minSize: Size,
    maxSize: Nullable(Size),
    maxOpenInterest: Dollars,
    status: MarketStatus,
  },
  { title: "Market" },
);
export type Market = Static<typeof Market>;

export const Markets = Type.Array(Market);

export const SymbolPath = Type.Object({ symbol: MarketSymbol });
