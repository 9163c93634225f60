/**
 * Orders and cancels over the socket. Each message becomes a call of the REST operation of the same
 * meaning, so one code path checks shape, limits, nonce and signature.
 */

import { ApiError, parseStrictJson } from "@perpgate/protocol/core";
import { cancelOrder, placeOrder, socketCancel, socketOrder } from "@perpgate/protocol/operations";
import { chargeOperation } from "../../limits/charge-operation.js";
import type { RawCall } from "../../operations/handler.js";
import { cancelOrderHandler, placeOrderHandler } from "../../operations/orders.js";
import type { SocketCall } from "../socket-call.js";
import { handleMessage } from "./operation.js";

const NO_BYTES = new Uint8Array(0);
const NOTHING: Readonly<Record<string, never>> = {};

/** `body` is text so that the signature covers exact bytes, those of the body of POST /v1/orders. */
export const order = handleMessage(socketOrder, ({ body: text, sig }, call, { gateway }) => {
  const account = requireSession(call);
  const limitBytes = gateway.signedBytes;
  if (text.length > limitBytes) throw new ApiError("body_too_large", { limitBytes });
  chargeOperation(gateway.budgets, call, placeOrder, account, call.header);
  const bytes = Buffer.from(text, "utf8");
  // Encoding replaces a lone surrogate, so text and bytes could differ. ASCII cannot.
  const body = parseStrictJson(bytes.length === text.length ? text : bytes.toString("utf8"));
  const rawCall: RawCall = {
    params: NOTHING,
    query: NOTHING,
    body,
    bodyBytes: bytes,
    signature: sig,
    bearerToken: call.connection.session?.token,
    client: call,
  };
  call.answerWith(placeOrderHandler.run(rawCall, gateway), acknowledged);
  return undefined;
});

export const cancel = handleMessage(socketCancel, ({ orderId }, call, { gateway }) => {
  const account = requireSession(call);
  chargeOperation(gateway.budgets, call, cancelOrder, account, call.header);
  const rawCall: RawCall = {
    params: { id: orderId },
    query: NOTHING,
    body: undefined,
    bodyBytes: NO_BYTES,
    signature: undefined,
    bearerToken: call.connection.session?.token,
    client: call,
  };
  call.answerWith(cancelOrderHandler.run(rawCall, gateway), (canceled) => ({ canceled }));
  return undefined;
});

function acknowledged(ack: unknown, { isReplay }: SocketCall): object {
  return { ack, replayed: isReplay };
}

/** The account of the socket's session, or `token_required`. */
function requireSession({ connection: { session } }: SocketCall): number {
  if (session === undefined) throw new ApiError("token_required", {});
  return session.account;
}
