import { Order, OrderIdPath } from "../orders/order.js";
import { ACCOUNT_READ, type Operation } from "./operation.js";

export const getOrder = {
  id: "getOrder",
  ...ACCOUNT_READ,
  path: "/v1/orders/{id}",
  tag: "orders",
  summary: "One own order",
  costMicros: 40,
  params: OrderIdPath,
  success: { status: 200, description: "The order", schema: Order },
  errors: ["order_not_found", "history_rebuilding", "history_not_kept"],
} satisfies Operation;
