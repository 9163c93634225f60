/** The requests about orders: placing, amending, canceling, batches, the margin of a position, and withdrawals. */

import {
  AmendOrderBody,
  BatchBody,
  CanceledOrder,
  CanceledOrders,
  CancelOrderBody,
  CancelTimer,
  ExtendedOrderBody,
  MarginBody,
  MarginChange,
  PreconfirmAck,
  Withdrawal,
  WithdrawalBody,
} from "@perpgate/protocol";
import { type Static, type TSchema, Type } from "typebox";
import { signedRequest, unsigned } from "./frame-rules.js";
import { bytes, count, type Kind, list, optional, record, text } from "./kinds.js";
import { LINK_REFUSAL } from "./refusal-kind.js";
import { shaped } from "./schema-kind.js";
import { HASH, SIGNATURE_BYTES } from "./session-frames.js";

/** Of the transport's limit on bodies. */
const MAX_BODY_BYTES = 65_536;
const MAX_OPERATIONS = 1_024;

/**
 * A body, the bytes that it was parsed from, and their signature, which the edge has checked with that
 * key. Without one the command is not executed: only a repeated one is answered.
 */
function signed<S extends TSchema>(body: S) {
  return {
    session: count(),
    key: HASH,
    body: shapedBody(body),
    bytes: bytes(MAX_BODY_BYTES),
    signature: optional(bytes(SIGNATURE_BYTES)),
  };
}

function shapedBody<S extends TSchema>(body: S): Kind<Static<S>> {
  return shaped(body);
}

/** The edge adds how long it took. */
const ACK = shaped(Type.Omit(PreconfirmAck, ["elapsedMs"]));
const CANCELED = shaped(CanceledOrder);

/** One of the three. */
const OPERATION_RESULT = record({
  ack: optional(ACK),
  canceled: optional(CANCELED),
  error: optional(LINK_REFUSAL),
});

export const ORDER_REQUESTS = {
  cancelOrder: unsigned(
    160,
    { session: count(), body: shaped(CancelOrderBody) },
    { result: CANCELED },
    "Cancels one order, by its id or the client's.",
  ),
  cancelAllOrders: unsigned(
    162,
    { session: count(), symbol: optional(text(256)) },
    { result: shaped(CanceledOrders) },
    "Cancels all orders, or those of one market.",
  ),
  cancelOrdersAfter: unsigned(
    164,
    { session: count(), afterMs: count() },
    { result: shaped(CancelTimer) },
    "Sets the dead-man's switch; 0 switches it off.",
  ),
  placeOrder: signedRequest(
    176,
    signed(ExtendedOrderBody),
    { result: optional(ACK) },
    "Places an order. No result: its signature does not hold, and nothing was executed.",
  ),
  amendOrder: signedRequest(
    178,
    { id: text(64), ...signed(AmendOrderBody) },
    { result: optional(ACK) },
    "Amends the order that path and body name.",
  ),
  changeMargin: signedRequest(
    180,
    signed(MarginBody),
    { result: optional(shaped(MarginChange)) },
    "Moves money between the wallet and the margin of a position.",
  ),
  requestWithdrawal: signedRequest(
    184,
    signed(WithdrawalBody),
    { result: optional(shaped(Withdrawal)) },
    "Has money paid to the account's own address on a chain.",
  ),
  placeBatch: signedRequest(
    182,
    signed(BatchBody),
    { result: optional(list(OPERATION_RESULT, MAX_OPERATIONS)) },
    "Places, amends and cancels orders with one signature.",
  ),
};
