/** What a venue says of itself. */

import { type Static, Type } from "typebox";
import { BlockNumber, Count, LogPosition, MarketSymbol, Nullable, TimeMs } from "../text/scalar.js";
import { MarketStatus } from "./market.js";

export const VenueTime = Type.Object({ time: TimeMs }, { title: "VenueTime" });
export type VenueTime = Static<typeof VenueTime>;

export const ClusterCore = Type.Object(
  {
    name: Type.String(),
    state: Type.Enum(["leads", "standby", "silent"], {
      description: "Whether it leads or stands by; silent: it was not heard in the last 5 s.",
    }),
    epoch: Type.Optional(
      Type.Integer({ minimum: 0, description: "Which lead of the log it has applied last." }),
    ),
    sequence: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: "The last message of the stream that it has applied.",
      }),
    ),
    clockAheadMs: Type.Optional(
      Type.Integer({ description: "How far its clock is ahead of that of the core that leads." }),
    ),
    server: Type.Optional(Type.String({ description: "The server that it is connected to." })),
    release: Type.Optional(Type.String()),
  },
  {
    title: "ClusterCore",
    description: "A core of the venue; the other fields are missing of a silent one.",
  },
);
export type ClusterCore = Static<typeof ClusterCore>;

export const ClusterStatus = Type.Object(
  {
    gateway: Type.String({ description: "The name of the core that answers." }),
    cores: Type.Array(ClusterCore, { description: "In the order in which they take over." }),
    lagMessages: Count,
    lagMs: Count,
    clockLeadMs: Type.Integer({
      description: "How far the clock of this gateway is ahead of the log's time.",
    }),
    server: Type.String({ description: "The server of the log that it is connected to." }),
    leader: Type.String({ description: "The server that leads the stream." }),
    replicasCurrent: Count,
  },
  {
    title: "ClusterStatus",
    description:
      "How the core that answers sees the replicated log; missing in a venue of one machine.",
  },
);
export type ClusterStatus = Static<typeof ClusterStatus>;

const HistoryBefore = Type.Object(
  { position: LogPosition, time: TimeMs },
  {
    title: "HistoryBefore",
    description:
      "The first log position whose orders, fills, trades and entries of the ledger are all kept, and its time. Lists end there, with the header Perpgate-History-Before. Missing while all are kept.",
  },
);

/** In a status and a readiness: trading goes on, so neither is an error. */
export const LogConflict = Type.String({
  description:
    "Why the transparency log signs no checkpoint any more: a witness, another gateway or its own last checkpoint contradicts it. Missing while nothing does.",
});

export const VenueStatus = Type.Object(
  {
    release: Type.String({ description: "The release of this gateway." }),
    region: Type.Optional(
      Type.String({ description: "Where this gateway is; missing if its operator has not said." }),
    ),
    epoch: Type.Optional(
      Type.Integer({ minimum: 0, description: "Which lead of the log the leading core is in." }),
    ),
    linkMs: Type.Optional(
      Type.Number({
        minimum: 0,
        description: "What this gateway has just waited for the leading core's answer.",
      }),
    ),
    engineVersion: Count,
    time: TimeMs,
    stage: Type.Enum(["closed", "allowlist", "open"], {
      description: "Who may open positions: nobody, the allowlist, everybody.",
    }),
    markets: Type.Array(Type.Object({ symbol: MarketSymbol, status: MarketStatus })),
    /** The last sealed block. */
    block: Nullable(BlockNumber),
    position: LogPosition,
    historyBefore: Type.Optional(HistoryBefore),
    conflict: Type.Optional(LogConflict),
    cluster: Type.Optional(ClusterStatus),
  },
  { title: "VenueStatus" },
);
export type VenueStatus = Static<typeof VenueStatus>;
