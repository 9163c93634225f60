import { CancelAfterBody, CancelTimer } from "../orders/order.js";
import { CANCEL, type Operation } from "./operation.js";

export const cancelOrdersAfter = {
  id: "cancelOrdersAfter",
  ...CANCEL,
  path: "/v1/orders/cancel-after",
  tag: "orders",
  summary: "Dead-man's switch: cancel all orders unless armed again in time",
  costMicros: 300,
  body: CancelAfterBody,
  success: { status: 200, description: "When the switch acts; null when off", schema: CancelTimer },
  errors: [],
} satisfies Operation;
