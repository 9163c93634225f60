import { Order, OrderIdPath } from "../order.js";
import { noBody, noQuery, type Operation } from "./operation.js";

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
  params: OrderIdPath,
  query: noQuery,
  body: noBody,
  success: { status: 200, description: "The order", schema: Order },
  errors: ["order_not_found"],
} satisfies Operation;
