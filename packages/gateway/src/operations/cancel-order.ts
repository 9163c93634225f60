import { CanceledOrder, OrderIdPath } from "@perpgate/protocol";
import { defineVenueOperation, noBody, noQuery } from "../http/operation.js";

export const cancelOrder = defineVenueOperation({
  id: "cancelOrder",
  method: "POST",
  path: "/v1/orders/{id}/cancel",
  tag: "orders",
  summary: "Cancel one order",
  access: "bearer",
  limit: "cancels",
  costMicros: 60,
  bodyBytes: 1_024,
  params: OrderIdPath,
  query: noQuery,
  body: noBody,
  success: { status: 200, description: "The order, canceled", schema: CanceledOrder },
  errors: ["order_not_found", "order_not_cancelable"],
  handle: ({ caller, params }, venue) => venue.cancelOrder(caller(), params.id),
});
