/** A batch: many operations, one signature, one nonce, one durable batch of the log. */

import type { BatchBody, CanceledOrder } from "@perpgate/protocol";
import { ApiError, orderIdText } from "@perpgate/protocol/core";
import type { Applied, PastBatch, PastOperation, Unanswered } from "@perpgate/venue";
import { digestOf } from "../auth/order-signature.js";
import type { Caller, Signed } from "../request.js";
import { type PlannedOperation, pastPlan, planBatch } from "./batch-plan.js";
import { operationRefusal } from "./batch-refusals.js";
import { ownOrder } from "./cancel-flow.js";
import type { CommandOrigin } from "./order-command.js";
import {
  conflict,
  isSameBody,
  markReplayed,
  type OrderEvidence,
  refuseOverlong,
  SignedRequest,
  type SignedServices,
} from "./signed-request.js";
import { type ReceiptedAck, unanswered, withReceipt } from "./venue-link.js";

/** What became of one operation. */
export type OperationResult =
  | { readonly ack: ReceiptedAck }
  | { readonly canceled: CanceledOrder }
  | { readonly error: ApiError };

type Resolve = (results: readonly OperationResult[]) => void;

export class BatchFlow {
  constructor(private readonly services: SignedServices) {}

  run(caller: Caller, request: Signed<BatchBody>): Promise<readonly OperationResult[]> {
    return new Promise((resolve, reject) => {
      const { guard, batchBytes, admission } = this.services;
      const session = guard.sessionOf(caller);
      this.takeTokens(session.account, request.body, caller);
      const batch = new BatchRequest(this.services, caller, session, request, resolve, reject);
      if (batch.resolveReplay(resolve)) return;
      refuseOverlong(request.bytes, batchBytes);
      admission.enter(caller.header);
      batch.begin(this.services.link.views.seqOfNonce(session, request.body.nonce));
    });
  }

  /** One token per operation, of orders or of cancels; too few of either: nothing is executed. */
  private takeTokens(account: number, { operations }: BatchBody, { header }: Caller): void {
    const { orders, cancels } = this.services.limits;
    const canceling = operations.filter(({ op }) => op === "cancel").length;
    const ordering = operations.length - canceling;
    if (canceling > 0) cancels.refuseIfFewer(account, canceling, header);
    if (ordering > 0) orders.takeMany(account, ordering, header);
    if (canceling > 0) cancels.takeMany(account, canceling, header);
  }
}

class BatchRequest extends SignedRequest<BatchBody, readonly OperationResult[]> {
  private plan: readonly PlannedOperation[] = [];
  private readonly results: OperationResult[] = [];
  private readonly receipts = new Countdown();
  private digest: Uint8Array | undefined;

  /** Answers a batch that was executed before with its stored results; false if it was not. */
  resolveReplay(resolve: Resolve): boolean {
    const past = this.past();
    if (past === undefined) return false;
    this.replayed(past, resolve);
    return true;
  }

  protected prepare(origin: CommandOrigin, evidence: OrderEvidence): () => void {
    const { link } = this.services;
    const { body } = this.request;
    this.plan = planBatch(link, this.session.account, body, origin);
    if (body.operations.every(({ op }) => op === "place")) this.refuseWithoutFunds();
    const commands = this.plan.map(({ command }) => command);
    return () => {
      link.venue.submitTogether(commands, evidence, (applied, index, why) => {
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
      const outcome = this.services.link.views.outcome(applied);
      if (outcome.kind === "replayed") {
        // Two submissions of one nonce were in flight: the second gets the first's results.
        if (isLast) this.settleReplay(outcome.orderId);
        return;
      }
      const known = outcome.kind === "executed" ? this.canceledBy(applied) : outcome;
      const result = this.resultSafely(this.plan[index]!, known);
      this.results.push(result);
      if ("ack" in result) this.awaitReceipt(applied, result.ack);
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
      return { error: new ApiError("internal_error", {}) };
    }
  }

  /** A cancel that was executed: the first order that it ended is the one that it names. */
  private canceledBy(applied: Applied): PastOperation {
    const [orderId] = this.services.link.views.endedOrders(applied, this.session.account);
    if (orderId === undefined) throw new Error(`the operation at ${applied.seq} did nothing`);
    return { kind: "canceled", orderId };
  }

  private settleReplay(first: number): void {
    if (!this.answerAsBefore()) this.refuse(conflict(this.request.body.nonce, first));
  }

  protected answerAsBefore(): boolean {
    return this.resolveReplay((results) => this.answer(results));
  }

  /** The stored results of the nonce, if a batch with the same body used it. */
  private past(): PastBatch | undefined {
    const { body, bytes } = this.request;
    const past = this.services.link.views.batchOf(this.session, body.nonce);
    return past !== undefined && isSameBody(past, bytes) ? past : undefined;
  }

  private replayed({ seq, operations }: PastBatch, resolve: Resolve): void {
    markReplayed(this.caller);
    const { link } = this.services;
    const plan = pastPlan(link, this.session.account, this.request.body, seq);
    const results = operations.map((outcome, i) => this.resultSafely(plan[i]!, outcome));
    const { receipts } = this;
    results.forEach((result, i) => {
      if (!("ack" in result)) return;
      const done = receipts.expectOne();
      link.receiptAgain(seq + i, (issued) => {
        withReceipt(result.ack, issued);
        done();
      });
    });
    receipts.onAll(() => resolve(results));
  }

  private awaitReceipt(applied: Applied, ack: ReceiptedAck): void {
    const done = this.receipts.expectOne();
    const requestHash = () => {
      this.digest ??= digestOf(this.request.bytes);
      return this.digest;
    };
    this.services.link.receiptFor(applied, requestHash, (issued) => {
      withReceipt(ack, issued);
      done();
    });
  }

  private resultOf(planned: PlannedOperation, outcome: PastOperation): OperationResult {
    switch (outcome.kind) {
      case "acknowledged":
        return { ack: outcome.acknowledgement };
      case "canceled":
        return { canceled: this.canceled(orderIdText(outcome.orderId)) };
      case "refused":
        return { error: operationRefusal(planned, outcome, this.refusedBatch()) };
    }
  }

  private refusedBatch() {
    const { session, request, services } = this;
    return { session, body: request.body, link: services.link };
  }

  private canceled(orderId: string): CanceledOrder {
    const { remainingSize } = ownOrder(this.services.link, this.session.account, orderId);
    return { orderId, status: "canceled", remainingSize };
  }
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
