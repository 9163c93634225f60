import type { BatchOperation, BatchResult, OrderTerms, PreconfirmAck } from "@perpgate/protocol";
import {
  amendOrder,
  cancelAllOrders,
  cancelNamedOrder,
  cancelOrder,
  cancelOrdersAfter,
  changeMargin,
  getOrder,
  getOrders,
  placeBatch,
  placeOrder,
} from "@perpgate/protocol/operations";
import { chargeBoth, orderWithinBudget } from "../limits/charge-operation.js";
import type { OperationResult } from "../venue/batch-flow.js";
import type { ReceiptedAck } from "../venue/venue-link.js";
import { handleByVenue, handleForAccount } from "./handler.js";

/** The venue checks the signature, because a repeated nonce is answered before that check. */
export const placeOrderHandler = handleByVenue(
  placeOrder,
  async ({ caller, client, body, bodyBytes, signature }, venue, { budgets }) => {
    if (client.overBudget !== undefined) {
      await orderWithinBudget(budgets, client, isReduction(body), client.header);
    }
    const ack = await venue.placeOrder(caller(), { body, bytes: bodyBytes, signature });
    return timed(ack, client.elapsedMs());
  },
);

export const amendOrderHandler = handleByVenue(
  amendOrder,
  async ({ caller, client, params, body, bodyBytes, signature }, venue, { budgets }) => {
    if (client.overBudget !== undefined) {
      await orderWithinBudget(budgets, client, false, client.header);
    }
    const request = { body, bytes: bodyBytes, signature };
    const ack = await venue.amendOrder(caller(), params.id, request);
    return timed(ack, client.elapsedMs());
  },
);

/** Microseconds of an operation of a batch beyond the first. */
const BATCH_OPERATION_MICROS = 100;

export const placeBatchHandler = handleByVenue(
  placeBatch,
  async ({ caller, client, body, bodyBytes, signature }, venue, { budgets }) => {
    const { operations } = body;
    const added = BATCH_OPERATION_MICROS * (operations.length - 1);
    chargeBoth(budgets, client, added);
    if (client.overBudget !== undefined) {
      await orderWithinBudget(budgets, client, operations.every(isExit), client.header, added);
    }
    const request = { body, bytes: bodyBytes, signature };
    const results = await venue.placeBatch(caller(), request);
    const elapsedMs = client.elapsedMs();
    return { results: results.map((result) => batchResult(result, elapsedMs)) };
  },
);

/** Whether the operation can only end orders or reduce a position. */
function isExit(operation: BatchOperation): boolean {
  if (operation.op === "cancel") return true;
  return operation.op === "place" && isReduction(operation);
}

/** Whether the order can only reduce a position. */
function isReduction({ reduceOnly, closePosition }: OrderTerms): boolean {
  return reduceOnly === true || closePosition === true;
}

function batchResult(result: OperationResult, elapsedMs: number): BatchResult {
  if ("ack" in result) return { status: 200, ack: timed(result.ack, elapsedMs) };
  if ("canceled" in result) return { status: 200, canceled: result.canceled };
  const { status, code, message, field, details } = result.error;
  const error = {
    code,
    message,
    ...(field === undefined ? {} : { field }),
    ...(details === undefined ? {} : { details }),
  };
  return { status, error };
}

export const changeMarginHandler = handleByVenue(
  changeMargin,
  async ({ caller, client, params, body, bodyBytes, signature }, venue, { budgets }) => {
    if (client.overBudget !== undefined) {
      await orderWithinBudget(budgets, client, false, client.header);
    }
    const request = { body, bytes: bodyBytes, signature };
    return venue.changeMargin(caller(), params.symbol, request);
  },
);

export const cancelNamedOrderHandler = handleByVenue(cancelNamedOrder, ({ caller, body }, venue) =>
  venue.cancelOrder(caller(), body),
);

export const cancelAllOrdersHandler = handleByVenue(cancelAllOrders, ({ caller, body }, venue) =>
  venue.cancelAllOrders(caller(), body.symbol),
);

export const ORDER_HANDLERS = [
  placeOrderHandler,
  amendOrderHandler,
  placeBatchHandler,
  changeMarginHandler,
  cancelNamedOrderHandler,
  handleByVenue(cancelOrder, ({ caller, params }, venue) =>
    venue.cancelOrder(caller(), { orderId: params.id }),
  ),
  handleForAccount(getOrders, async ({ params, query }, { link, session, onNotes }) => {
    const { result } = await link.request("getOrders", { session, params, query }, onNotes);
    return result;
  }),
  handleForAccount(getOrder, async ({ params, query }, { link, session, onNotes }) => {
    const { result } = await link.request("getOrder", { session, params, query }, onNotes);
    return result;
  }),
  cancelAllOrdersHandler,
  handleByVenue(cancelOrdersAfter, ({ caller, body }, venue) =>
    venue.cancelOrdersAfter(caller(), body.afterMs),
  ),
];

/** Copied field by field: a spread object costs half a kilobyte that outlives its request. */
function timed(ack: ReceiptedAck, elapsedMs: number): PreconfirmAck {
  const timedAck: PreconfirmAck = {
    ackNonce: ack.ackNonce,
    orderId: ack.orderId,
    symbol: ack.symbol,
    side: ack.side,
    nonce: ack.nonce,
    status: ack.status,
    filledSize: ack.filledSize,
    remainingSize: ack.remainingSize,
    avgFillPrice: ack.avgFillPrice,
    feePaid: ack.feePaid,
    positionAfter: ack.positionAfter,
    expectedBlock: ack.expectedBlock,
    reason: ack.reason,
    clientOrderId: ack.clientOrderId,
    time: ack.time,
    elapsedMs,
  };
  if (ack.exits !== undefined) timedAck.exits = ack.exits;
  if (ack.receipt !== undefined) timedAck.receipt = ack.receipt;
  if (ack.leaf !== undefined) timedAck.leaf = ack.leaf;
  return timedAck;
}
