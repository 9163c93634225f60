import { AmendOrderBody, AmendPath } from "../extended-order.js";
import { PreconfirmAck } from "../preconfirm.js";
import { NO_INPUT, type Operation } from "./operation.js";
import { ORDER_TERM_ERRORS } from "./place-order.js";

export const amendOrder = {
  id: "amendOrder",
  method: "POST",
  path: "/v1/orders/{id}/amend",
  tag: "orders",
  summary: "Change the price, size, limit or expiry of an open order, which keeps its id",
  access: "signed",
  needsVenue: true,
  limit: "orders",
  costMicros: 200,
  bodyBytes: "signed",
  ...NO_INPUT,
  params: AmendPath,
  body: AmendOrderBody,
  success: { status: 200, description: "Amended and durable", schema: PreconfirmAck },
  errors: [...ORDER_TERM_ERRORS, "order_not_found", "order_not_amendable"],
} satisfies Operation;
