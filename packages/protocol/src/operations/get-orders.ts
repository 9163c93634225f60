import { Orders, OrdersQuery } from "../order.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getOrders = {
  id: "getOrders",
  method: "GET",
  path: "/v1/orders",
  tag: "orders",
  summary: "Own orders: the open ones, or the newest 1,000 of all",
  access: "bearer",
  needsVenue: true,
  limit: "account-reads",
  costMicros: 60,
  ...NO_INPUT,
  query: OrdersQuery,
  success: { status: 200, description: "Orders", schema: Orders },
  errors: [],
} satisfies Operation;
