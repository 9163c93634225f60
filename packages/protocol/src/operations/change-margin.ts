import { Type } from "typebox";
import { MarginBody, MarginChange } from "../orders/extended-order.js";
import { MarketSymbol } from "../text/scalar.js";
import { type Operation, SIGNED_ORDER } from "./operation.js";

export const changeMargin = {
  id: "changeMargin",
  ...SIGNED_ORDER,
  path: "/v1/positions/{symbol}/margin",
  tag: "account",
  summary: "Move money between the wallet and the margin of a position",
  costMicros: 500,
  params: Type.Object({ symbol: MarketSymbol }),
  body: MarginBody,
  success: { status: 200, description: "Moved and durable", schema: MarginChange },
  errors: [
    "signature_required",
    "invalid_signature",
    "session_key_rotated",
    "session_symbol_not_allowed",
    "market_not_found",
    "market_halted",
    "market_settled",
    "stale_index",
    "index_held",
    "position_not_found",
    "insufficient_margin",
    "margin_needed",
    "nonce_too_old",
    "nonce_conflict",
    "history_rebuilding",
    "history_not_kept",
  ],
} satisfies Operation;
