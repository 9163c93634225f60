/** What a venue says of itself. */

import { type Static, Type } from "typebox";
import { MarketStatus } from "./market.js";
import { BlockNumber, Count, LogPosition, MarketSymbol, Nullable, TimeMs } from "./scalar.js";

export const VenueTime = Type.Object({ time: TimeMs }, { title: "VenueTime" });
export type VenueTime = Static<typeof VenueTime>;

export const VenueStatus = Type.Object(
  {
    release: Type.String({ description: "The release of this gateway." }),
    engineVersion: Count,
    time: TimeMs,
    stage: Type.Enum(["closed", "allowlist", "open"], {
      description: "Who may open positions: nobody, the allowlist, everybody.",
    }),
    markets: Type.Array(Type.Object({ symbol: MarketSymbol, status: MarketStatus })),
    /** The last sealed block. */
    block: Nullable(BlockNumber),
    position: LogPosition,
  },
  { title: "VenueStatus" },
);
export type VenueStatus = Static<typeof VenueStatus>;
