import { Orders, OrdersQuery } from "../order.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getOrders = {
  id: "getOrders",
  method: "GET",
  path: "/v1/orders",
  tag: "orders",
  summary: "Own orders: all open ones, oldest first, or those in any state, newest first",
  access: "bearer",
  needsVenue: true,
  limit: "account-reads",
  costMicros: 60,
  ...NO_INPUT,
  query: OrdersQuery,
  success: { status: 200, description: "Orders", schema: Orders },
  errors: ["unknown_symbol"],
} satisfies Operation;
