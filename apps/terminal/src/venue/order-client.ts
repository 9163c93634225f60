/**
 * Sends orders, amendments and batches, and measures the latency of orders.
 *
 * Nothing is sent unless the line is live. What is signed carries `validUntil`, so that bytes that a dead
 * line held back do nothing when they arrive later. A request without an answer stays listed as unsettled;
 * once the line is back the same bytes with the same nonce settle it: the venue returns the answer to the
 * first try, or refuses the request as too late.
 *
 * The same order again, before its answer or within half a second of it, is the same press: a key that
 * bounces, a button pressed twice. It is one order. Of everything else only one request about the same
 * thing is in flight at a time, and while the outcome of one is unknown no further one is sent.
 */

import type { CanceledOrders } from "@perpgate/protocol";
import {
  ConnectionError,
  type NewOperation,
  type NewOrder,
  type OrderAmendment,
  PerpgateError,
  type Session,
} from "@perpgate/sdk";
import { refusedPart } from "../order/send-batch.js";
import { Store } from "../state/store.js";
import type { Line } from "./line.js";
import { newResult, type OrderResult } from "./order-result.js";
import { type ProofSources, ReceiptBook } from "./receipt-book.js";
import type { VenueClock } from "./venue-clock.js";

/** A request is not retried after this time: the market has moved on. */
const BUDGET_MS = 5_000;
/** And not executed after this one, which leaves the last try its time. */
const VALID_MS = 10_000;
const SAME_ORDER_MS = 500;

/** A signed request that was sent and has no answer. */
export interface Unsettled {
  readonly key: string;
  /** What it is about: see `StillPendingError`. */
  readonly subject: string;
  /** What it does, in words. */
  readonly title: string;
  /** Sends the same bytes again; returns the refusal of a part, if some operations were executed. */
  repeat(): Promise<PerpgateError | undefined>;
}

export interface Settlement {
  readonly title: string;
  readonly outcome: "executed" | "partly executed" | "not executed";
  /** Undefined: all of it was executed. */
  readonly error: PerpgateError | undefined;
}

/** Not sent: an earlier request about the same thing has no answer yet. */
export class StillPendingError extends Error {
  override readonly name = "StillPendingError";
}

/** What every signed request has besides its own fields. */
interface Terms {
  readonly validUntil?: number;
  readonly nonce?: number;
}

export interface OrderServices extends ProofSources {
  readonly line: Pick<Line, "requireLive">;
  readonly clock: VenueClock;
}

export class OrderClient {
  readonly book: ReceiptBook;
  readonly unsettled = new Store<readonly Unsettled[]>([], "immediate");
  private last: { readonly subject: string; readonly answer: Promise<OrderResult> } | undefined;
  /** Subjects of the requests in flight. */
  private readonly inFlight = new Set<string>();

  constructor(private readonly services: OrderServices) {
    this.book = new ReceiptBook(services);
  }

  get results(): Store<readonly OrderResult[]> {
    return this.book.results;
  }

  /**
   * `subject` is given where two orders mean the same although their prices differ.
   *
   * @throws ConnectionError without an answer; then the order is settled once the line is back.
   */
  place(session: Session, order: NewOrder, subject = subjectOf(order)): Promise<OrderResult> {
    if (this.last?.subject === subject) return this.last.answer;
    const title = `${order.side === "long" ? "Buy" : "Sell"} ${order.type} ${order.symbol}`;
    const answer = this.submit(subject, title, (terms) =>
      this.placeOnce(session, { ...order, ...terms }),
    );
    const last = { subject, answer };
    this.last = last;
    const forget = () => {
      if (this.last === last) this.last = undefined;
    };
    // A refused order may be sent again immediately.
    answer.then(() => setTimeout(forget, SAME_ORDER_MS), forget);
    return answer;
  }

  forget(): void {
    this.book.forget();
    this.unsettled.set([]);
    this.last = undefined;
  }

  /** Changes an open order. */
  amend(session: Session, amendment: OrderAmendment) {
    const title = `Change of order ${amendment.orderId ?? amendment.clientOrderId}`;
    return this.submit(title, title, (terms) =>
      session.amendOrder({ ...amendment, ...terms }, { budgetMs: BUDGET_MS }),
    );
  }

  /** Sends several operations with one signature; `subject` says what they do together. */
  batch(session: Session, operations: readonly NewOperation[], subject: string) {
    const send = (terms: Terms) => session.batch(operations, { ...terms, budgetMs: BUDGET_MS });
    return this.submit(subject, subject, send, refusedPart);
  }

  /** Moves dollars into the margin of a position, or out of it. The interface gives it no end of validity. */
  changeMargin(session: Session, symbol: string, amount: number) {
    const title = `Change of the margin of ${symbol}`;
    return this.submit(title, title, ({ nonce }) =>
      session.changeMargin(symbol, amount, {
        budgetMs: BUDGET_MS,
        ...(nonce === undefined ? {} : { nonce }),
      }),
    );
  }

  /** Cancels an order. It has no nonce: that the order is canceled is the answer to the first try. */
  async cancel(session: Session, orderId: string): Promise<void> {
    const options = { ...this.validity(), budgetMs: BUDGET_MS };
    await this.once(
      `Cancel of order ${orderId}`,
      () => session.cancelOrder(orderId, options),
      () => cancelAgain(session, orderId, options),
    );
  }

  /**
   * Cancels all orders. The interface gives it no end of validity, so it is not sent again: without an
   * answer, what was open at the press, `open`, is canceled order by order.
   */
  cancelAll(session: Session, open: readonly string[]): Promise<CanceledOrders> {
    this.services.line.requireLive();
    return this.once(
      "Cancel of all orders",
      () => session.cancelAll({ retries: 0, budgetMs: BUDGET_MS }),
      async () => {
        for (const orderId of open) {
          await cancelAgain(session, orderId, { budgetMs: BUDGET_MS }).catch(throwUnlessEnded);
        }
      },
    );
  }

  /** Settles what has no answer, each by its own bytes; what has none again is kept. */
  async settle(): Promise<readonly Settlement[]> {
    const settlements: Settlement[] = [];
    for (const unsettled of this.unsettled.get()) {
      const { title, repeat } = unsettled;
      try {
        const error = await repeat();
        settlements.push({ title, outcome: error ? "partly executed" : "executed", error });
      } catch (error) {
        if (!(error instanceof PerpgateError) || error.outcome === "unknown") continue;
        settlements.push({ title, outcome: "not executed", error });
      }
      this.unsettled.update((known) => known.filter((each) => each !== unsettled));
    }
    return settlements;
  }

  /** Sends a signed request, which the same nonce settles. */
  private async submit<T>(
    subject: string,
    title: string,
    send: (terms: Terms) => Promise<T>,
    refusalIn: (answer: T) => PerpgateError | undefined = () => undefined,
  ): Promise<T> {
    const validity = this.validity();
    return this.guarded(subject, async () => {
      try {
        return await send(validity);
      } catch (error) {
        if (isUnknown(error) && error.nonce !== undefined) {
          const { nonce } = error;
          const repeat = async () => refusalIn(await send({ ...validity, nonce }));
          this.keep({ key: String(nonce), subject, title, repeat });
        }
        throw error;
      }
    });
  }

  /** Sends a request without a nonce, which `settle` settles. */
  private once<T>(
    title: string,
    send: () => Promise<T>,
    settle: () => Promise<unknown>,
  ): Promise<T> {
    return this.guarded(title, async () => {
      try {
        return await send();
      } catch (error) {
        const repeat = () => settle().then(() => undefined);
        if (isUnknown(error)) this.keep({ key: title, subject: title, title, repeat });
        throw error;
      }
    });
  }

  /** @throws StillPendingError if an earlier request about the same thing has no answer yet. */
  private async guarded<T>(subject: string, send: () => Promise<T>): Promise<T> {
    const isOpen = this.unsettled.get().some((each) => each.subject === subject);
    if (isOpen || this.inFlight.has(subject)) {
      throw new StillPendingError("An earlier request of this kind has no answer yet.");
    }
    this.inFlight.add(subject);
    try {
      return await send();
    } finally {
      this.inFlight.delete(subject);
    }
  }

  /** @throws ConnectionError, not sent, unless the line is live. */
  private validity(): { readonly validUntil?: number } {
    const { line, clock } = this.services;
    line.requireLive();
    const now = clock.now();
    return now === undefined ? {} : { validUntil: now + VALID_MS };
  }

  private keep(unsettled: Unsettled): void {
    this.unsettled.update((known) => [...known, unsettled]);
  }

  private async placeOnce(session: Session, order: NewOrder): Promise<OrderResult> {
    const begin = performance.now();
    const { replayed, ...ack } = await fastestTransport(session).placeOrder(order, {
      budgetMs: BUDGET_MS,
    });
    const browserMs = performance.now() - begin;
    const result = newResult(ack, { type: order.type, replayed, browserMs });
    this.book.add(session, result);
    return result;
  }
}

async function cancelAgain(
  session: Session,
  orderId: string,
  options: { readonly validUntil?: number; readonly budgetMs?: number },
): Promise<void> {
  try {
    await session.cancelOrder(orderId, options);
  } catch (error) {
    const isDone =
      error instanceof PerpgateError &&
      error.code === "order_not_cancelable" &&
      error.details?.status === "canceled";
    if (!isDone) throw error;
  }
}

/** What is filled, or gone, needs no cancel. */
function throwUnlessEnded(error: unknown): void {
  const isEnded =
    error instanceof PerpgateError &&
    (error.code === "order_not_cancelable" || error.code === "order_not_found");
  if (!isEnded) throw error;
}

/** Without what changes from press to press: the time of expiry, and a market order's worst price. */
function subjectOf({ clientOrderId, expiresAt, price, ...terms }: NewOrder): string {
  return JSON.stringify(terms.type === "market" ? terms : { ...terms, price });
}

export function isUnknown(error: unknown): error is ConnectionError | PerpgateError {
  if (!(error instanceof ConnectionError || error instanceof PerpgateError)) return false;
  return error.outcome === "unknown";
}

/** An open socket is faster than a request; REST does not wait for a socket. */
function fastestTransport(session: Session): Pick<Session, "placeOrder"> {
  return session.stream.state === "open" ? session.stream : session;
}
