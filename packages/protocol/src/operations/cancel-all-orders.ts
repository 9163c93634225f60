import { CancelAllBody, CanceledOrders } from "../order.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const cancelAllOrders = {
  id: "cancelAllOrders",
  method: "POST",
  path: "/v1/orders/cancel-all",
  tag: "orders",
  summary: "Cancel all open orders, of one market or of all",
  access: "bearer",
  needsVenue: true,
  limit: "cancels",
  costMicros: 150,
  bodyBytes: 1_024,
  ...NO_INPUT,
  body: CancelAllBody,
  success: { status: 200, description: "The ids that were canceled", schema: CanceledOrders },
  errors: ["unknown_symbol"],
} satisfies Operation;
