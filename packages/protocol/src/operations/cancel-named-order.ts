import { CancelOrderBody } from "../extended-order.js";
import { CanceledOrder } from "../order.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const cancelNamedOrder = {
  id: "cancelNamedOrder",
  method: "POST",
  path: "/v1/orders/cancel",
  tag: "orders",
  summary: "Cancel one order by its id or by your own",
  access: "bearer",
  needsVenue: true,
  limit: "cancels",
  costMicros: 60,
  bodyBytes: 1_024,
  ...NO_INPUT,
  body: CancelOrderBody,
  success: { status: 200, description: "The order, canceled", schema: CanceledOrder },
  errors: ["order_not_found", "order_not_cancelable", "too_late"],
} satisfies Operation;
