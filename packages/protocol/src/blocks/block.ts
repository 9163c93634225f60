/** A sealed block: a range of the log, and the hashes that commit to it. */

import { type Static, Type } from "typebox";
import { LOG_POSITION_PATTERN } from "../text/patterns.js";
import { BlockNumber, Count, Hex32, LogPosition, TimeMs } from "../text/scalar.js";

export const Block = Type.Object(
  {
    number: BlockNumber,
    hash: Hex32,
    parentHash: Hex32,
    firstPosition: LogPosition,
    lastPosition: LogPosition,
    ackCount: Count,
    acksRoot: Hex32,
    ackListHash: Hex32,
    eventsHash: Hex32,
    time: TimeMs,
  },
  { title: "Block" },
);
export type Block = Static<typeof Block>;

export const BlockNumberPath = Type.Object({
  number: Type.String({
    pattern: LOG_POSITION_PATTERN,
    description: "A block number.",
  }),
});
