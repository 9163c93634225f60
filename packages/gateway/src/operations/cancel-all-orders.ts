import { CancelAllBody, CanceledOrders } from "@perpgate/protocol";
import { defineVenueOperation, noParams, noQuery } from "../http/operation.js";

export const cancelAllOrders = defineVenueOperation({
  id: "cancelAllOrders",
  method: "POST",
  path: "/v1/orders/cancel-all",
  tag: "orders",
  summary: "Cancel all open orders, of one market or of all",
  access: "bearer",
  limit: "cancels",
  costMicros: 150,
  bodyBytes: 1_024,
  params: noParams,
  query: noQuery,
  body: CancelAllBody,
  success: { status: 200, description: "The ids that were canceled", schema: CanceledOrders },
  errors: ["unknown_symbol"],
  handle: ({ caller, body }, venue) => venue.cancelAllOrders(caller(), body.symbol),
});
