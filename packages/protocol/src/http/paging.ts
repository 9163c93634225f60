/**
 * Query integers that page through lists.
 *
 * A value above the maximum is clamped to it; one below 1 or not an integer is rejected. So the schema
 * has a minimum and no maximum; `clampedTo` passes the maximum to the decoder and to the OpenAPI
 * document.
 */

import { Type } from "typebox";
import { ENTRY_ID_PATTERN } from "../text/patterns.js";
import { LogPosition, OrderId } from "../text/scalar.js";

/** The schema keyword with the maximum. */
export const CLAMPED_TO = "x-clamped-to";

function ClampedInteger(defaultValue: number, ceiling: number, description: string) {
  return Type.Integer({
    minimum: 1,
    default: defaultValue,
    [CLAMPED_TO]: ceiling,
    description: `${description}, 1 to ${ceiling}; above is clamped.`,
  });
}

export const Depth = ClampedInteger(50, 5000, "Levels per side");
export const Limit = ClampedInteger(100, 1000, "Entries at most");
/** For lists that answered with their newest thousand before they took a limit. */
export const WideLimit = Type.Optional(
  Type.Integer({
    minimum: 1,
    [CLAMPED_TO]: 1000,
    description: "Entries at most, 1 to 1000; above is clamped. Missing: 1000.",
  }),
);

/** The id of a fill, a trade or an entry of the ledger. */
export const EntryId = Type.String({
  pattern: ENTRY_ID_PATTERN,
  description: "The log position, then the place within that command.",
});

const QueryTime = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const timeField = (description: string) => Type.Optional({ ...QueryTime, description });

/** from ≤ time < to. */
export const TIME_SPAN = {
  from: timeField("Unix milliseconds: entries of this time or later."),
  to: timeField("Unix milliseconds: entries before this time."),
};
const BEFORE = "Entries before this one.";
const AFTER = "Entries after this one, the oldest first; otherwise the newest come first.";
/** Pages by the ids of entries. */
export const ENTRY_CURSORS = {
  before: Type.Optional({ ...EntryId, description: BEFORE }),
  after: Type.Optional({ ...EntryId, description: AFTER }),
};
/** Pages by ids that are log positions. */
export const POSITION_CURSORS = {
  before: Type.Optional({ ...LogPosition, description: BEFORE }),
  after: Type.Optional({ ...LogPosition, description: AFTER }),
};
/** Pages of orders: an exit follows its order. */
export const ORDER_CURSORS = {
  before: Type.Optional({ ...OrderId, description: BEFORE }),
  after: Type.Optional({ ...OrderId, description: AFTER }),
};
/** Pages of entries whose time is their id. */
export const TIME_CURSORS = {
  before: timeField("Entries before this time."),
  after: timeField("Entries after this time, the oldest first; otherwise the newest come first."),
};
