import { OrderMessage, parseStrictJson } from "@perpgate/protocol";
import { placeOrder } from "../../operations/place-order.js";
import { defineSocketOperation } from "./operation.js";
import { restCall } from "./rest-call.js";

/** `body` is text, so that the signature covers the very bytes: what POST /v1/orders would read. */
export const order = defineSocketOperation({
  message: OrderMessage,
  handle: async (call, { gateway }) => {
    const { body: text, sig: signature } = call.message;
    const bodyBytes = Buffer.from(text, "utf8");
    // Read back from the bytes: a lone surrogate has none, so text and bytes could differ.
    const body = parseStrictJson(bodyBytes.toString("utf8"));
    const { raw, headers } = restCall(call, { body, bodyBytes, signature });
    const ack = await placeOrder.answer(raw, gateway);
    return { ack, replayed: headers.get("idempotent-replay") === "true" };
  },
});
