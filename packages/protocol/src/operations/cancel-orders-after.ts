import { CancelAfterBody, CancelTimer } from "../order.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const cancelOrdersAfter = {
  id: "cancelOrdersAfter",
  method: "POST",
  path: "/v1/orders/cancel-after",
  tag: "orders",
  summary: "Dead-man's switch: cancel all orders unless armed again in time",
  access: "bearer",
  needsVenue: true,
  limit: "cancels",
  costMicros: 60,
  bodyBytes: 1_024,
  ...NO_INPUT,
  body: CancelAfterBody,
  success: { status: 200, description: "When the switch acts; null when off", schema: CancelTimer },
  errors: [],
} satisfies Operation;
