/**
 * Orders and cancels over the socket. Each message becomes a call of the REST operation of the same
 * meaning, so one code path checks shape, limits, nonce and signature.
 */

import { ApiError, type JsonBounds, parseStrictJson } from "@perpgate/protocol/core";
import {
  amendOrder,
  cancelAllOrders,
  cancelNamedOrder,
  changeMargin,
  type Operation,
  placeBatch,
  placeOrder,
  socketAmend,
  socketBatch,
  socketCancel,
  socketCancelAll,
  socketMargin,
  socketOrder,
} from "@perpgate/protocol/operations";
import type { GatewayContext } from "../../http/context.js";
import { jsonBoundsOf } from "../../http/json-body.js";
import { chargeOperation } from "../../limits/charge-operation.js";
import type { RawCall } from "../../operations/handler.js";
import {
  amendOrderHandler,
  cancelAllOrdersHandler,
  cancelNamedOrderHandler,
  changeMarginHandler,
  placeBatchHandler,
  placeOrderHandler,
} from "../../operations/orders.js";
import type { SocketCall } from "../socket-call.js";
import { handleMessage } from "./operation.js";

/** Of the signed text of each operation. */
const BOUNDS: ReadonlyMap<Operation, JsonBounds> = new Map(
  [placeOrder, amendOrder, placeBatch, changeMargin].map((each) => [each, jsonBoundsOf(each)]),
);
const NO_BYTES = new Uint8Array(0);
const NOTHING: Readonly<Record<string, never>> = {};

/** `body` is text so that the signature covers exact bytes, those of the body of POST /v1/orders. */
export const order = handleMessage(socketOrder, (message, call, { gateway }) => {
  const rawCall = signedCall(message, call, gateway, placeOrder);
  call.answerWith(placeOrderHandler.run(rawCall, gateway), acknowledged);
  return undefined;
});

/** The path of an amendment is what its body names. */
export const amend = handleMessage(socketAmend, (message, call, { gateway }) => {
  const rawCall = signedCall(message, call, gateway, amendOrder);
  const named = { ...rawCall, params: { id: targetIn(rawCall.body) } };
  call.answerWith(amendOrderHandler.run(named, gateway), acknowledged);
  return undefined;
});

export const batch = handleMessage(socketBatch, (message, call, { gateway }) => {
  const rawCall = signedCall(message, call, gateway, placeBatch);
  call.answerWith(placeBatchHandler.run(rawCall, gateway), (answer, { isReplay }) => ({
    batch: answer,
    replayed: isReplay,
    ...seqOf(gateway),
  }));
  return undefined;
});

/** The path of a change of margin is the symbol of its body. */
export const margin = handleMessage(socketMargin, (message, call, { gateway }) => {
  const rawCall = signedCall(message, call, gateway, changeMargin);
  const named = { ...rawCall, params: { symbol: textIn(rawCall.body, "symbol") } };
  call.answerWith(changeMarginHandler.run(named, gateway), (change, { isReplay }) => ({
    margin: change,
    replayed: isReplay,
    ...seqOf(gateway),
  }));
  return undefined;
});

export const cancel = handleMessage(socketCancel, ({ op: _, id: __, ...body }, call, context) => {
  const { gateway } = context;
  const rawCall = unsignedCall(body, call, gateway, cancelNamedOrder);
  call.answerWith(cancelNamedOrderHandler.run(rawCall, gateway), (canceled) => ({
    canceled,
    ...seqOf(gateway),
  }));
  return undefined;
});

export const cancelAll = handleMessage(
  socketCancelAll,
  ({ op: _, id: __, ...body }, call, { gateway }) => {
    const rawCall = unsignedCall(body, call, gateway, cancelAllOrders);
    call.answerWith(cancelAllOrdersHandler.run(rawCall, gateway), (answer) => ({
      ...(typeof answer === "object" ? answer : {}),
      ...seqOf(gateway),
    }));
    return undefined;
  },
);

interface SignedMessage {
  readonly body: string;
  readonly sig: string;
}

/** Charges the operation and parses the signed text. */
function signedCall(
  { body: text, sig }: SignedMessage,
  call: SocketCall,
  { signedBytes, batchBytes, budgets }: GatewayContext,
  operation: Operation,
): RawCall {
  const account = requireSession(call);
  const limitBytes = operation.bodyBytes === "batch" ? batchBytes : signedBytes;
  if (text.length > limitBytes) throw new ApiError("body_too_large", { limitBytes });
  chargeOperation(budgets, call, operation, account, call.header);
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length > limitBytes) throw new ApiError("body_too_large", { limitBytes });
  // Encoding replaces a lone surrogate, so text and bytes could differ. ASCII cannot.
  const exact = bytes.length === text.length ? text : bytes.toString("utf8");
  const body = parseStrictJson(exact, BOUNDS.get(operation));
  return rawCallOf(call, body, bytes, sig);
}

/** Charges the operation; the fields of the message are its body. */
function unsignedCall(
  body: object,
  call: SocketCall,
  { budgets }: GatewayContext,
  operation: Operation,
): RawCall {
  chargeOperation(budgets, call, operation, requireSession(call), call.header);
  return rawCallOf(call, body, NO_BYTES, undefined);
}

function rawCallOf(
  call: SocketCall,
  body: unknown,
  bodyBytes: Uint8Array,
  signature: string | undefined,
): RawCall {
  const bearerToken = call.connection.session?.token;
  return { params: NOTHING, query: NOTHING, body, bodyBytes, signature, bearerToken, client: call };
}

/** The order that a body names; the handler checks the body's shape. */
function targetIn(body: unknown): string {
  return textIn(body, "orderId") || textIn(body, "clientOrderId") || "0";
}

/** The text of a field that the handler has not checked yet; empty if there is none. */
function textIn(body: unknown, name: string): string {
  if (typeof body !== "object" || body === null) return "";
  const value: unknown = Object.entries(body).find(([key]) => key === name)?.[1];
  return typeof value === "string" ? value : "";
}

/** The position that this gateway has applied, as REST has it in a header; an `ack` has its own. */
function seqOf({ edge }: GatewayContext): { readonly seq?: number } {
  return edge === undefined ? {} : { seq: edge.position };
}

function acknowledged(ack: unknown, { isReplay }: SocketCall): object {
  return { ack, replayed: isReplay };
}

/** The account of the socket's session, or `token_required`. */
function requireSession({ connection: { session } }: SocketCall): number {
  if (session === undefined) throw new ApiError("token_required", {});
  return session.account;
}
