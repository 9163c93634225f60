/** The API error of one operation of a batch that was refused, now or when the batch was executed. */

import type { Session } from "@perpgate/engine/reading";
import type { BatchBody } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import type { Venue } from "../venue.js";
import { orderNotFound } from "./amend-target.js";
import type { PlannedOperation } from "./batch-plan.js";
import { notCancelable, ownOrder, tooLate } from "./cancels.js";
import { type RefusedOutcome, sessionRefusal } from "./execution.js";
import { about, orderRefusal, signingRefusal } from "./order-refusals.js";

interface RefusedBatch {
  readonly session: Session;
  readonly body: BatchBody;
  readonly venue: Venue;
}

export function operationRefusal(
  planned: PlannedOperation,
  outcome: RefusedOutcome,
  batch: RefusedBatch,
): ApiError {
  const { operation, failure, terms, market } = planned;
  const { session, body } = batch;
  const { views } = batch.venue;
  if (outcome.refusal === "order_not_cancelable") {
    return failure ?? noOpenOrder(operation, batch);
  }
  if (outcome.refusal === "too_late") return tooLate(body.validUntil ?? 0, views.timeMs);
  const signing = signingRefusal(outcome, body.nonce);
  if (signing !== undefined) return signing;
  if (operation.op !== "cancel" && terms !== undefined && market !== undefined) {
    const refused = { body: { ...body, ...targetOf(operation) }, terms, market, session, views };
    return asApiError(orderRefusal(outcome, refused));
  }
  return asApiError(sessionRefusal("CancelOrder", outcome));
}

/**
 * A cancel found no open order. In the place of an order it stands for a market that was unknown, of an
 * amendment for an order that was not there; a retry of the batch may find either.
 */
function noOpenOrder(
  operation: PlannedOperation["operation"],
  { venue, session }: RefusedBatch,
): ApiError {
  if (operation.op === "place") {
    return about("symbol", "unknown_symbol", { symbol: operation.symbol });
  }
  const { orderId } = operation;
  if (operation.op === "amend" || orderId === undefined) return orderNotFound(operation);
  try {
    return notCancelable(orderId, ownOrder(venue, session.account, orderId).status);
  } catch (error) {
    return asApiError(error);
  }
}

function targetOf(operation: PlannedOperation["operation"]): object {
  if (operation.op === "place") return {};
  const { orderId, clientOrderId } = operation;
  return {
    ...(orderId === undefined ? {} : { orderId }),
    ...(clientOrderId === undefined ? {} : { clientOrderId }),
  };
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}
