import { CanceledOrder, OrderIdPath } from "../order.js";
import { noBody, noQuery, type Operation } from "./operation.js";

export const cancelOrder = {
  id: "cancelOrder",
  method: "POST",
  path: "/v1/orders/{id}/cancel",
  tag: "orders",
  summary: "Cancel one order",
  access: "bearer",
  needsVenue: true,
  limit: "cancels",
  costMicros: 60,
  bodyBytes: 1_024,
  params: OrderIdPath,
  query: noQuery,
  body: noBody,
  success: { status: 200, description: "The order, canceled", schema: CanceledOrder },
  errors: ["order_not_found", "order_not_cancelable"],
} satisfies Operation;
