import { CanceledOrder, OrderIdPath } from "../orders/order.js";
import { CANCEL, type Operation } from "./operation.js";

export const cancelOrder = {
  id: "cancelOrder",
  ...CANCEL,
  path: "/v1/orders/{id}/cancel",
  tag: "orders",
  summary: "Cancel one order",
  costMicros: 150,
  params: OrderIdPath,
  success: { status: 200, description: "The order, canceled", schema: CanceledOrder },
  errors: ["order_not_found", "order_not_cancelable"],
} satisfies Operation;
