import type { AnswerBodies } from "@perpgate/link";
import { errorOf } from "@perpgate/link";
import type {
  BatchOperation,
  BatchResult,
  MarginChange,
  OrderTerms,
  PreconfirmAck,
} from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import {
  amendOrder,
  cancelAllOrders,
  cancelNamedOrder,
  cancelOrder,
  cancelOrdersAfter,
  changeMargin,
  placeBatch,
  placeOrder,
} from "@perpgate/protocol/operations";
import { chargeBoth, orderWithinBudget } from "../limits/charge-operation.js";
import { handleForAccount, handleSigned } from "./handler.js";
import { askSigned } from "./signed-call.js";

type ReceiptedAck = NonNullable<AnswerBodies["placeOrder"]["result"]>;
type OperationResult = NonNullable<AnswerBodies["placeBatch"]["result"]>[number];

export const placeOrderHandler = handleSigned(placeOrder, async (call, edge, signed) => {
  const { client, body } = call;
  if (client.overBudget !== undefined) {
    await orderWithinBudget(signed.budgets, client, isReduction(body), client.header);
  }
  const ack = await askSigned<ReceiptedAck>(edge, signed, (evidence, outcome) => {
    const { session, key, bytes, signature } = evidence;
    edge.link.ask("placeOrder", { session, key, body, bytes, signature }, outcome);
  });
  return timed(ack, client.elapsedMs());
});

export const amendOrderHandler = handleSigned(amendOrder, async (call, edge, signed) => {
  const { client, body, params } = call;
  if (client.overBudget !== undefined) {
    await orderWithinBudget(signed.budgets, client, false, client.header);
  }
  const ack = await askSigned<ReceiptedAck>(edge, signed, (evidence, outcome) => {
    edge.link.ask("amendOrder", { id: params.id, body, ...evidence }, outcome);
  });
  return timed(ack, client.elapsedMs());
});

/** Microseconds of an operation of a batch beyond the first. */
const BATCH_OPERATION_MICROS = 100;

export const placeBatchHandler = handleSigned(placeBatch, async (call, edge, signed) => {
  const { client, body } = call;
  const { budgets } = signed;
  const { operations } = body;
  const added = BATCH_OPERATION_MICROS * (operations.length - 1);
  chargeBoth(budgets, client, added);
  if (client.overBudget !== undefined) {
    await orderWithinBudget(budgets, client, operations.every(isExit), client.header, added);
  }
  const results = await askSigned<readonly OperationResult[]>(edge, signed, (evidence, outcome) => {
    edge.link.ask("placeBatch", { body, ...evidence }, outcome);
  });
  const elapsedMs = client.elapsedMs();
  return { results: results.map((result) => batchResult(result, elapsedMs)) };
});

/** Whether the operation can only end orders or reduce a position. */
function isExit(operation: BatchOperation): boolean {
  if (operation.op === "cancel") return true;
  return operation.op === "place" && isReduction(operation);
}

/** Whether the order can only reduce a position. */
function isReduction({ reduceOnly, closePosition }: OrderTerms): boolean {
  return reduceOnly === true || closePosition === true;
}

function batchResult({ ack, canceled, error }: OperationResult, elapsedMs: number): BatchResult {
  if (ack !== undefined) return { status: 200, ack: timed(ack, elapsedMs) };
  if (canceled !== undefined) return { status: 200, canceled };
  if (error === undefined) throw new Error("an operation of a batch has no result");
  const { status, code, message, field, details } = errorOf(error);
  return {
    status,
    error: {
      code,
      message,
      ...(field === undefined ? {} : { field }),
      ...(details === undefined ? {} : { details }),
    },
  };
}

/** The path names the position; the signed body names it, too. */
export const changeMarginHandler = handleSigned(changeMargin, async (call, edge, signed) => {
  const { client, body, params } = call;
  if (client.overBudget !== undefined) {
    await orderWithinBudget(signed.budgets, client, false, client.header);
  }
  if (params.symbol !== body.symbol) {
    const problem = `the path names ${params.symbol}, the body ${body.symbol}`;
    throw new ApiError("invalid_request", { problem }, { field: "symbol" });
  }
  return askSigned<MarginChange>(edge, signed, (evidence, outcome) => {
    edge.link.ask("changeMargin", { body, ...evidence }, outcome);
  });
});

export const cancelNamedOrderHandler = handleForAccount(
  cancelNamedOrder,
  async ({ body }, { link, session, onNotes }) =>
    (await link.request("cancelOrder", { session, body }, onNotes)).result,
);

export const cancelAllOrdersHandler = handleForAccount(
  cancelAllOrders,
  async ({ body: { symbol } }, { link, session, onNotes }) =>
    (await link.request("cancelAllOrders", { session, symbol }, onNotes)).result,
);

export const ORDER_HANDLERS = [
  placeOrderHandler,
  amendOrderHandler,
  placeBatchHandler,
  changeMarginHandler,
  cancelNamedOrderHandler,
  handleForAccount(cancelOrder, async ({ params }, { link, session, onNotes }) => {
    const body = { orderId: params.id };
    return (await link.request("cancelOrder", { session, body }, onNotes)).result;
  }),
  cancelAllOrdersHandler,
  handleForAccount(cancelOrdersAfter, async ({ body }, { link, session, onNotes }) => {
    const { afterMs } = body;
    return (await link.request("cancelOrdersAfter", { session, afterMs }, onNotes)).result;
  }),
];

/** In place: the acknowledgement was made for this answer. */
function timed(ack: ReceiptedAck, elapsedMs: number): PreconfirmAck {
  return Object.assign(ack, { elapsedMs });
}
