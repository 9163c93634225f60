import { type Acknowledgement, PlaceOrderBody, PreconfirmAck } from "@perpgate/protocol";
import { defineVenueOperation, noParams, noQuery } from "../http/operation.js";
import { orderWithinBudget } from "../limits/charge-operation.js";

export const placeOrder = defineVenueOperation({
  id: "placeOrder",
  method: "POST",
  path: "/v1/orders",
  tag: "orders",
  summary: "Place an order; the answer is its preconfirmation",
  access: "signed",
  limit: "orders",
  costMicros: 170,
  params: noParams,
  query: noQuery,
  body: PlaceOrderBody,
  success: { status: 200, description: "Executed and durable", schema: PreconfirmAck },
  errors: [
    "signature_required",
    "invalid_signature",
    "session_key_rotated",
    "session_symbol_not_allowed",
    "session_order_cap_exceeded",
    "session_notional_cap_exceeded",
    "unknown_symbol",
    "market_halted",
    "stale_index",
    "price_required",
    "price_not_on_tick",
    "price_outside_band",
    "price_too_far",
    "stop_would_trigger",
    "size_below_lot",
    "insufficient_margin",
    "leverage_above_maximum",
    "leverage_above_tier",
    "position_limit",
    "notional_limit",
    "open_order_limit",
    "post_only_would_cross",
    "post_only_needs_limit",
    "reduce_only_without_position",
    "nonce_too_old",
    "nonce_conflict",
    "not_in_cohort",
  ],
  // The signature is judged behind the port: a repeated nonce is answered before it.
  handle: async ({ caller, client, body, bodyBytes, signature }, venue, { budgets }) => {
    if (client.overBudget !== undefined) {
      await orderWithinBudget(budgets, client, body.reduceOnly === true, client.header);
    }
    const ack = await venue.placeOrder(caller(), { body, bytes: bodyBytes, signature });
    return timed(ack, client.elapsedMs());
  },
});

/** Field by field: an answer that is spread costs half a kilobyte that outlives its request. */
function timed(ack: Acknowledgement, elapsedMs: number): PreconfirmAck {
  return {
    ackNonce: ack.ackNonce,
    orderId: ack.orderId,
    symbol: ack.symbol,
    side: ack.side,
    nonce: ack.nonce,
    status: ack.status,
    filledSize: ack.filledSize,
    remainingSize: ack.remainingSize,
    avgFillPrice: ack.avgFillPrice,
    feePaid: ack.feePaid,
    positionAfter: ack.positionAfter,
    expectedBlock: ack.expectedBlock,
    reason: ack.reason,
    elapsedMs,
  };
}
