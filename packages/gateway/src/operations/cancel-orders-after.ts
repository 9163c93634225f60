import { CancelAfterBody, CancelTimer } from "@perpgate/protocol";
import { defineVenueOperation, noParams, noQuery } from "../http/operation.js";

export const cancelOrdersAfter = defineVenueOperation({
  id: "cancelOrdersAfter",
  method: "POST",
  path: "/v1/orders/cancel-after",
  tag: "orders",
  summary: "Dead-man's switch: cancel all orders unless armed again in time",
  access: "bearer",
  limit: "cancels",
  costMicros: 60,
  bodyBytes: 1_024,
  params: noParams,
  query: noQuery,
  body: CancelAfterBody,
  success: { status: 200, description: "When the switch acts; null when off", schema: CancelTimer },
  errors: [],
  handle: ({ caller, body }, venue) => venue.cancelOrdersAfter(caller(), body.afterMs),
});
