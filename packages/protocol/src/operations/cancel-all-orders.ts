import { CancelAllBody, CanceledOrders } from "../orders/order.js";
import { CANCEL, type Operation } from "./operation.js";

export const cancelAllOrders = {
  id: "cancelAllOrders",
  ...CANCEL,
  path: "/v1/orders/cancel-all",
  tag: "orders",
  summary: "Cancel all open orders, of one market or of all",
  costMicros: 480,
  body: CancelAllBody,
  success: { status: 200, description: "The ids that were canceled", schema: CanceledOrders },
  errors: ["unknown_symbol"],
} satisfies Operation;
