import { Orders, OrdersQuery } from "../orders/order.js";
import { ACCOUNT_READ, type Operation } from "./operation.js";

export const getOrders = {
  id: "getOrders",
  ...ACCOUNT_READ,
  path: "/v1/orders",
  tag: "orders",
  summary: "Own orders: all open ones, oldest first, or those in any state, newest first",
  costMicros: 60,
  endsAtEdge: true,
  query: OrdersQuery,
  success: { status: 200, description: "Orders", schema: Orders },
  errors: ["unknown_symbol", "too_many_rows", "history_rebuilding"],
} satisfies Operation;
