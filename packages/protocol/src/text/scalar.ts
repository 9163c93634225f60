/**
 * The scalars of all schemas, each with its unit and its bounds.
 *
 * They describe JSON numbers and strings on the wire; `units.ts` converts them to the venue's integers.
 */

import { type TSchema, Type } from "typebox";
import { SYMBOL_PATTERN } from "../markets/symbol.js";
import { ORDER_ID_PATTERN } from "../orders/order-id.js";
import { ADDRESS_PATTERN, HEX_32_PATTERN, LOG_POSITION_PATTERN } from "./patterns.js";

export function Nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

export const MarketSymbol = Type.String({
  pattern: SYMBOL_PATTERN,
  description: "Base and quote in one word.",
  examples: ["BTCUSD"],
});
export const Price = Type.Number({ description: "Dollars per unit of base." });
export const Size = Type.Number({ description: "Units of base." });
export const Dollars = Type.Number({ description: "Dollars, to the micro-dollar." });
export const Rate = Type.Number({ description: "A fraction: 0.0005 is 0.05 %." });
export const TimeMs = Type.Integer({ description: "Unix milliseconds." });
export const Count = Type.Integer({ minimum: 0 });
/** A seq of the log, in decimal; below 2^53, without leading zeros. */
export const LogPosition = Type.String({
  pattern: LOG_POSITION_PATTERN,
  description: "A position in the venue's log, in decimal.",
  examples: ["48213"],
});
export const OrderId = Type.String({
  pattern: ORDER_ID_PATTERN,
  description:
    "The order's position in the venue's log, in decimal; with .1 or .2 its attached take profit or stop loss.",
  examples: ["48213", "48213.1"],
});
export const BlockNumber = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const Hex32 = Type.String({
  pattern: HEX_32_PATTERN,
  description: "32 bytes of hex.",
});
/** With an answer, of a venue that issues receipts. */
export const RECEIPTED = {
  receipt: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9_-]+$",
      description:
        "The gateway's signature over what it acknowledged, in base64url (docs/receipts.md); left out " +
        "by a venue that issues none.",
    }),
  ),
  leaf: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9_-]+$",
      description:
        "With `receipt`: the acknowledgement as it will be sealed, in base64url, whose hash the receipt " +
        "signs. Compare it with the other fields.",
    }),
  ),
};
export const Address = Type.String({
  pattern: ADDRESS_PATTERN,
  description: "An EIP-55 address.",
});
