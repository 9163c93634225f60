import { Orders, OrdersQuery } from "@perpgate/protocol";
import { defineVenueOperation, noBody, noParams } from "../http/operation.js";

export const getOrders = defineVenueOperation({
  id: "getOrders",
  method: "GET",
  path: "/v1/orders",
  tag: "orders",
  summary: "Own orders: the open ones, or the newest 1,000 of all",
  access: "bearer",
  limit: "account-reads",
  costMicros: 60,
  params: noParams,
  query: OrdersQuery,
  body: noBody,
  success: { status: 200, description: "Orders", schema: Orders },
  errors: [],
  handle: ({ caller, query }, venue) => venue.orders(caller(), query),
});
