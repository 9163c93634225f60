/** A batch: many operations, one signature, one nonce, one durable batch of the log. */

import type { Session } from "@perpgate/engine/reading";
import { LATER, type LinkRefusal, type RequestHandlers, refusalOf } from "@perpgate/link";
import type { BatchBody, CanceledOrder } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import type { Unanswered } from "../pending-batches.js";
import type { Evidence } from "../record/record.js";
import type { Applied } from "../replica.js";
import type { Venue } from "../venue.js";
import type { PastBatch, PastOperation } from "../views/past-results.js";
import { orderNotFound } from "./amend-target.js";
import { type PlannedOperation, pastPlan, planBatch } from "./batch-plan.js";
import { notCancelable, ownOrder, tooLate } from "./cancels.js";
import { type RefusedOutcome, sessionRefusal, unanswered } from "./execution.js";
import type { CommandOrigin } from "./order-command.js";
import { about, orderRefusal, signingRefusal } from "./order-refusals.js";
import { type ReceiptedAck, withReceipt, withReceiptAgain } from "./receipts-of.js";
import { conflict, SignedRequest, type SignedServices } from "./signed-request.js";

/** What became of one operation: one of the three. */
interface OperationResult {
  readonly ack: ReceiptedAck | undefined;
  readonly canceled: CanceledOrder | undefined;
  readonly error: LinkRefusal | undefined;
}

export function batches(services: SignedServices): Pick<RequestHandlers, "placeBatch"> {
  return {
    placeBatch: (request, notes, reply) => {
      new BatchRequest(services, request, notes, reply).begin();
      return LATER;
    },
  };
}

class BatchRequest extends SignedRequest<BatchBody, readonly OperationResult[]> {
  private plan: readonly PlannedOperation[] = [];
  private readonly results: OperationResult[] = [];
  private readonly receipts = new Countdown();

  /** One token per operation, of orders or of cancels; too few of either: nothing is executed. */
  protected count(): void {
    const { orders, cancels } = this.services;
    const { account } = this.session;
    const { operations } = this.request.body;
    const canceling = operations.filter(({ op }) => op === "cancel").length;
    const ordering = operations.length - canceling;
    if (canceling > 0) cancels.refuseIfFewer(account, canceling, this.notes);
    if (ordering > 0) orders.take(account, this.notes, ordering);
    if (canceling > 0) cancels.take(account, this.notes, canceling);
  }

  protected prepare(origin: CommandOrigin, evidence: Evidence): () => void {
    const { venue } = this.services;
    const { body } = this.request;
    this.plan = planBatch(venue, this.session.account, body, origin);
    if (body.operations.every(({ op }) => op === "place")) this.refuseWithoutFunds();
    const commands = this.plan.map(({ command }) => command);
    return () => {
      venue.submitTogether(commands, evidence, (applied, index, why) => {
        this.onApplied(applied, index, why);
      });
    };
  }

  /** Runs inside the apply callback, once per operation and in order; must not throw. */
  private onApplied(applied: Applied | null, index: number, why: Unanswered): void {
    const isLast = index === this.plan.length - 1;
    try {
      if (applied === null) {
        if (isLast) this.refuse(unanswered(why));
        return;
      }
      this.countWork(applied);
      const outcome = this.services.venue.views.outcome(applied);
      if (outcome.kind === "replayed") {
        // Two submissions of one nonce were in flight: the second gets the first's results.
        if (isLast) this.settleReplay(outcome.orderId);
        return;
      }
      const known = outcome.kind === "executed" ? this.canceledBy(applied) : outcome;
      const result = this.resultSafely(this.plan[index]!, known);
      this.results.push(result);
      const answer = result.ack ?? result.canceled;
      if (answer !== undefined) this.awaitReceipt(applied, answer);
      if (isLast) this.receipts.onAll(() => this.answer(this.results));
    } catch (error) {
      if (isLast) this.refuse(error);
    }
  }

  /** A failure to describe one result must not hide those of the other operations, which are executed. */
  private resultSafely(planned: PlannedOperation, outcome: PastOperation): OperationResult {
    try {
      return this.resultOf(planned, outcome);
    } catch {
      return resultOf({ error: refusalOf(new ApiError("internal_error", {})) });
    }
  }

  /** A cancel that was executed. */
  private canceledBy(applied: Applied): PastOperation {
    return { kind: "canceled", canceled: this.services.venue.views.canceled(applied) };
  }

  private settleReplay(first: number): void {
    if (!this.answerAsBefore()) this.refuse(conflict(this.request.body.nonce, first));
  }

  /** Answers a batch that was executed before with its stored results; false if it was not. */
  protected answerAsBefore(): boolean {
    const past = this.past();
    if (past === undefined) return false;
    this.replayed(past);
    return true;
  }

  /** The stored results of the nonce, if a batch with the same body used it. */
  private past(): PastBatch | undefined {
    const past = this.services.venue.views.batchOf(this.session, this.request.body.nonce);
    return past !== undefined && this.hasBody(past) ? past : undefined;
  }

  private replayed({ seq, operations }: PastBatch): void {
    this.notes.isReplay = true;
    const { venue } = this.services;
    const plan = pastPlan(venue, this.session.account, this.request.body, seq);
    const results = operations.map((outcome, i) => this.resultSafely(plan[i]!, outcome));
    const { receipts } = this;
    results.forEach(({ ack, canceled }, i) => {
      const answer = ack ?? canceled;
      if (answer === undefined) return;
      withReceiptAgain(venue, seq + i, answer, receipts.expectOne());
    });
    receipts.onAll(() => this.answer(results));
  }

  private awaitReceipt(applied: Applied, ack: ReceiptedAck | CanceledOrder): void {
    const done = this.receipts.expectOne();
    withReceipt(this.services.venue, applied, ack, () => this.digest, done);
  }

  private resultOf(planned: PlannedOperation, outcome: PastOperation): OperationResult {
    switch (outcome.kind) {
      case "acknowledged":
        return resultOf({ ack: outcome.acknowledgement });
      case "canceled":
        return resultOf({ canceled: outcome.canceled });
      case "refused":
        return resultOf({
          error: refusalOf(operationRefusal(planned, outcome, this.refusedBatch())),
        });
    }
  }

  private refusedBatch() {
    const { session, request, services } = this;
    return { session, body: request.body, venue: services.venue };
  }
}

function resultOf({ ack, canceled, error }: Partial<OperationResult>): OperationResult {
  return { ack, canceled, error };
}

/** Calls back once everything that it expects has come. */
class Countdown {
  private pending = 0;
  private whenAll: (() => void) | undefined;

  expectOne(): () => void {
    this.pending++;
    return () => {
      this.pending--;
      this.settle();
    };
  }

  /** Nothing more is expected. */
  onAll(callback: () => void): void {
    this.whenAll = callback;
    this.settle();
  }

  private settle(): void {
    if (this.pending === 0) this.whenAll?.();
  }
}

/** The API error of one operation of a batch that was refused, now or when the batch was executed. */
interface RefusedBatch {
  readonly session: Session;
  readonly body: BatchBody;
  readonly venue: Venue;
}

function operationRefusal(
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
