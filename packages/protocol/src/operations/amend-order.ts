import { PreconfirmAck } from "../blocks/preconfirm.js";
import { AmendOrderBody, AmendPath } from "../orders/extended-order.js";
import { type Operation, SIGNED_ORDER } from "./operation.js";
import { ORDER_TERM_ERRORS } from "./place-order.js";

export const amendOrder = {
  id: "amendOrder",
  ...SIGNED_ORDER,
  path: "/v1/orders/{id}/amend",
  tag: "orders",
  summary: "Change the price, size, limit or expiry of an open order, which keeps its id",
  costMicros: 550,
  params: AmendPath,
  body: AmendOrderBody,
  success: { status: 200, description: "Amended and durable", schema: PreconfirmAck },
  errors: [
    ...ORDER_TERM_ERRORS,
    "order_not_found",
    "order_not_amendable",
    "history_rebuilding",
    "history_not_kept",
  ],
} satisfies Operation;
