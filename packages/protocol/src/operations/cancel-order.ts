import { CanceledOrder, OrderIdPath } from "../order.js";
import { NO_INPUT, type Operation } from "./operation.js";

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
  ...NO_INPUT,
  params: OrderIdPath,
  success: { status: 200, description: "The order, canceled", schema: CanceledOrder },
  errors: ["order_not_found", "order_not_cancelable"],
} satisfies Operation;
