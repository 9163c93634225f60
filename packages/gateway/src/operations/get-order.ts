import { Order, OrderIdPath } from "@perpgate/protocol";
import { defineVenueOperation, noBody, noQuery } from "../http/operation.js";

export const getOrder = defineVenueOperation({
  id: "getOrder",
  method: "GET",
  path: "/v1/orders/{id}",
  tag: "orders",
  summary: "One own order",
  access: "bearer",
  limit: "account-reads",
  costMicros: 40,
  params: OrderIdPath,
  query: noQuery,
  body: noBody,
  success: { status: 200, description: "The order", schema: Order },
  errors: ["order_not_found"],
  handle: ({ caller, params }, venue) => venue.order(caller(), params.id),
});
