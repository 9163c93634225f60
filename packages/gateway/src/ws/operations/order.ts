import { ApiError, OrderMessage, parseStrictJson } from "@perpgate/protocol";
import { chargeOperation } from "../../limits/charge-operation.js";
import { placeOrder } from "../../operations/place-order.js";
import type { SocketCall } from "../socket-call.js";
import { defineSocketOperation } from "./operation.js";
import { orderCall, requireSession } from "./rest-call.js";

/** `body` is text, so that the signature covers the very bytes: what POST /v1/orders would read. */
export const order = defineSocketOperation({
  message: OrderMessage,
  handle: ({ body: text, sig }, call, { gateway }) => {
    const account = requireSession(call);
    const limitBytes = gateway.signedBytes;
    if (text.length > limitBytes) throw new ApiError("body_too_large", { limitBytes });
    chargeOperation(gateway.budgets, call, placeOrder, account, call.header);
    const bytes = Buffer.from(text, "utf8");
    // A lone surrogate has no bytes, so text and bytes could differ; one byte a character cannot.
    const body = parseStrictJson(bytes.length === text.length ? text : bytes.toString("utf8"));
    call.answerWith(placeOrder.answer(orderCall(call, body, bytes, sig), gateway), acknowledged);
    return undefined;
  },
});

function acknowledged(ack: unknown, { isReplay }: SocketCall): object {
  return { ack, replayed: isReplay };
}
