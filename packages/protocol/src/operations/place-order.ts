import { Type } from "typebox";
import { PreconfirmAck } from "../blocks/preconfirm.js";
import { ExtendedOrderBody } from "../orders/extended-order.js";
import { PlaceOrderBody } from "../orders/order.js";
import { type Operation, SIGNED_ORDER } from "./operation.js";

/** What the terms of an order may be refused for, whether it is placed or amended. */
export const ORDER_TERM_ERRORS = [
  "signature_required",
  "invalid_signature",
  "session_key_rotated",
  "session_symbol_not_allowed",
  "session_order_cap_exceeded",
  "session_notional_cap_exceeded",
  "unknown_symbol",
  "market_halted",
  "market_reduce_only",
  "market_settled",
  "deposit_reorged",
  "stale_index",
  "index_held",
  "price_required",
  "price_not_on_tick",
  "price_outside_band",
  "price_too_far",
  "stop_would_trigger",
  "size_below_lot",
  "notional_too_small",
  "insufficient_margin",
  "leverage_above_maximum",
  "leverage_above_tier",
  "leverage_limited",
  "position_limit",
  "notional_limit",
  "open_order_limit",
  "too_many_orders",
  "post_only_would_cross",
  "post_only_needs_limit",
  "reduce_only_without_position",
  "nonce_too_old",
  "nonce_conflict",
  "not_in_cohort",
  "too_late",
  "size_not_on_lot",
  "margin_too_small",
  "expiry_out_of_range",
  "limit_price_outside_band",
  "exit_price",
] as const;

export const placeOrder = {
  id: "placeOrder",
  ...SIGNED_ORDER,
  path: "/v1/orders",
  tag: "orders",
  summary: "Place an order; the answer is its preconfirmation",
  costMicros: 550,
  body: Type.Union([PlaceOrderBody, ExtendedOrderBody]),
  success: { status: 200, description: "Executed and durable", schema: PreconfirmAck },
  errors: [
    ...ORDER_TERM_ERRORS,
    "client_order_id_in_use",
    "close_position_in_use",
    "exits_not_supported",
    "history_rebuilding",
    "history_not_kept",
  ],
} satisfies Operation;
