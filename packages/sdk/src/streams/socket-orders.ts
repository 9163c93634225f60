/** Orders over a session's socket: each request is paced, tried again if that is safe, and checked. */

import { BatchAnswer, CanceledOrder, CanceledOrders, PreconfirmAck } from "@perpgate/protocol";
import {
  messageOf,
  socketAmend,
  socketBatch,
  socketCancel,
  socketCancelAll,
  socketOrder,
  socketSession,
} from "@perpgate/protocol/operations";
import type { BatchOptions, CancelAllOptions, CancelOptions } from "../account-trader.js";
import { PerpgateError } from "../errors.js";
import { hasShape } from "../http/answer-shape.js";
import { unexpectedAnswer } from "../http/failures.js";
import type { Pacer } from "../http/pacer.js";
import {
  amendText,
  batchText,
  cancelFields,
  type NewOperation,
  type NewOrder,
  type OrderAmendment,
  type OrderName,
} from "../orders/order-body.js";
import type {
  OrderClient,
  OrderTransport,
  PlacedOrder,
  Replayable,
  Transport,
} from "../orders/order-client.js";
import {
  type Attempt,
  type CallOptions,
  type RetryRules,
  rulesWith,
  withRetries,
} from "../retry.js";
import type { StreamSocket } from "./stream-socket.js";

/** What the orders need of their session. */
export interface SocketOrdersContext {
  readonly socket: StreamSocket;
  readonly orderClient: OrderClient;
  readonly rules: RetryRules;
  /** Of the gateway that the socket is open to. */
  orderPacer(): Pacer;
  cancelPacer(): Pacer;
  /** The result of a cancel that failed after an earlier try. */
  settleCancel(order: OrderName, error: unknown): Promise<CanceledOrder>;
  /** For what an earlier session signed: the socket is bound to the current one. */
  readonly overRest: {
    readonly order: OrderTransport;
    amendment(id: string): OrderTransport;
    readonly batch: Transport<Replayable<BatchAnswer>>;
  };
}

export class SocketOrders {
  constructor(private readonly context: SocketOrdersContext) {}

  place(order: NewOrder, options: CallOptions): Promise<PlacedOrder> {
    const send = ofCurrent(this.sendSigned(socketOrder), this.context.overRest.order);
    return this.context.orderClient.place(order, options, send);
  }

  amend(amendment: OrderAmendment, options: CallOptions): Promise<PlacedOrder> {
    const { orderId, clientOrderId = "", nonce: given } = amendment;
    const textOf = (nonce: number) => amendText(amendment, nonce);
    const overRest = this.context.overRest.amendment(orderId ?? clientOrderId);
    const send = ofCurrent(this.sendSigned(socketAmend), overRest);
    return this.context.orderClient.submit(given, textOf, options, send);
  }

  batch(
    operations: readonly NewOperation[],
    { validUntil, nonce: given, ...options }: BatchOptions,
  ): Promise<Replayable<BatchAnswer>> {
    const textOf = (nonce: number) => batchText(operations, validUntil, nonce);
    const send = ofCurrent(this.sendBatch, this.context.overRest.batch);
    return this.context.orderClient.submit(given, textOf, options, send);
  }

  async cancel(
    order: OrderName,
    { validUntil, ...options }: CancelOptions,
  ): Promise<CanceledOrder> {
    const message = messageOf(socketCancel, cancelFields(order, validUntil));
    try {
      const { canceled } = await this.sendCancel(message, options);
      if (!hasShape(CanceledOrder, canceled)) throw otherShape("cancel");
      return this.context.orderClient.canceled(canceled);
    } catch (error) {
      return this.context.settleCancel(order, error);
    }
  }

  async cancelAll({ symbol, ...options }: CancelAllOptions): Promise<CanceledOrders> {
    const message = messageOf(socketCancelAll, symbol === undefined ? {} : { symbol });
    const { canceled } = await this.sendCancel(message, options);
    const answer = { canceled };
    if (!hasShape(CanceledOrders, answer)) throw otherShape("cancelAll");
    return answer;
  }

  async setCancelOnDisconnect(isOn: boolean, options: CallOptions): Promise<void> {
    const message = messageOf(socketSession, { cancelOnDisconnect: isOn });
    const rules = rulesWith(options, this.context.rules);
    await withRetries(rules, options.signal, (attempt) =>
      this.request(message, attempt, options.signal),
    );
  }

  private sendSigned(operation: typeof socketOrder | typeof socketAmend): OrderTransport {
    return ({ body, signature }, attempt, signal) =>
      paced(this.context.orderPacer(), signal, async () => {
        const message = messageOf(operation, { body, sig: signature });
        const { ack, replayed } = await this.request(message, attempt, signal);
        if (!hasShape(PreconfirmAck, ack)) throw otherShape(operation.op);
        return { ...ack, replayed: replayed === true };
      });
  }

  private readonly sendBatch: Transport<Replayable<BatchAnswer>> = (signed, attempt, signal) =>
    paced(this.context.orderPacer(), signal, async () => {
      const message = messageOf(socketBatch, { body: signed.body, sig: signed.signature });
      const { batch, replayed } = await this.request(message, attempt, signal);
      if (!hasShape(BatchAnswer, batch)) throw otherShape("batch");
      return { results: batch.results, replayed: replayed === true };
    });

  private sendCancel(message: object, options: CallOptions) {
    const { signal } = options;
    return withRetries(rulesWith(options, this.context.rules), signal, (attempt) =>
      paced(this.context.cancelPacer(), signal, () => this.request(message, attempt, signal)),
    );
  }

  private request(message: object, { timeoutMs, begin }: Attempt, signal: AbortSignal | undefined) {
    begin();
    return this.context.socket.request(message, { timeoutMs, signal });
  }
}

/** Uses the socket for what the current session signed. */
function ofCurrent<T>(overSocket: Transport<T>, overRest: Transport<T>): Transport<T> {
  return (signed, attempt, signal) =>
    (signed.token === undefined ? overSocket : overRest)(signed, attempt, signal);
}

/** Like `pacer.run`; a `rate_limited` error delays the next requests. */
function paced<T>(
  pacer: Pacer,
  signal: AbortSignal | undefined,
  send: () => Promise<T>,
): Promise<T> {
  return pacer.run(signal, async () => {
    try {
      return await send();
    } catch (error) {
      if (error instanceof PerpgateError && error.code === "rate_limited") {
        pacer.holdFor(error.retryAfterMs ?? 0);
      }
      throw error;
    }
  });
}

function otherShape(operation: string): PerpgateError {
  return unexpectedAnswer(
    `the response to ${operation} has another shape; is this a newer gateway?`,
  );
}
