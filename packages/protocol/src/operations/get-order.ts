import { Order, OrderIdPath } from "../order.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getOrder = {
  id: "getOrder",
  method: "GET",
  path: "/v1/orders/{id}",
  tag: "orders",
  summary: "One own order",
  access: "bearer",
  needsVenue: true,
  limit: "account-reads",
  costMicros: 40,
  ...NO_INPUT,
  params: OrderIdPath,
  success: { status: 200, description: "The order", schema: Order },
  errors: ["order_not_found"],
} satisfies Operation;
