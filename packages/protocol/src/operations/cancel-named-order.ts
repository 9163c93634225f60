import { CancelOrderBody } from "../orders/extended-order.js";
import { CanceledOrder } from "../orders/order.js";
import { CANCEL, type Operation } from "./operation.js";

export const cancelNamedOrder = {
  id: "cancelNamedOrder",
  ...CANCEL,
  path: "/v1/orders/cancel",
  tag: "orders",
  summary: "Cancel one order by its id or by your own",
  costMicros: 150,
  body: CancelOrderBody,
  success: { status: 200, description: "The order, canceled", schema: CanceledOrder },
  errors: ["order_not_found", "order_not_cancelable", "too_late"],
} satisfies Operation;
