/**
 * Sends orders, amendments and batches, and measures the latency of orders.
 *
 * Nothing is sent unless the line is live and, but for *Cancel all*, the venue's time known. What is
 * signed carries `validUntil`, so that bytes that a dead line held back do nothing when they arrive later.
 * A request without an answer stays listed as unsettled: see `unsettled-requests.ts`.
 *
 * The same order again, before its answer or within half a second of it, is the same press: a key that
 * bounces, a button pressed twice. It is one order.
 */

import type { CanceledOrders, Order } from "@perpgate/protocol";
import { MAX_BATCH_OPERATIONS } from "@perpgate/protocol/core";
import {
  ConnectionError,
  type NewOperation,
  type NewOrder,
  type OrderAmendment,
  type PerpgateClient,
  PerpgateError,
  type Session,
} from "@perpgate/sdk";
import { refusalsIn, shownOutcome } from "../order/outcome.js";
import type { Store } from "../state/store.js";
import { t } from "../text/texts.js";
import type { Line } from "./line.js";
import { newResult, type OrderResult } from "./order-result.js";
import { type ProofSources, ReceiptBook } from "./receipt-book.js";
import {
  BUDGET_MS,
  EXECUTED,
  type RequestName,
  type SendOptions,
  UnsettledRequests,
} from "./unsettled-requests.js";
import type { PageClock } from "./venue-clock.js";

/** A request is not executed after this time, which leaves the last try within `BUDGET_MS` its time. */
const VALID_MS = 10_000;
const SAME_ORDER_MS = 500;
const CANCEL_ALL = "cancel-all";
/** A press does not wait longer for the venue's time. */
const TIME_RULES = { retries: 0, timeoutMs: 2_000 };

type WithdrawalTerms = Parameters<Session["withdraw"]>[0];

interface OrderServices extends ProofSources {
  readonly client: ProofSources["client"] & Pick<PerpgateClient, "time">;
  readonly line: Pick<Line, "requireLive">;
  readonly clock: PageClock;
}

export class PageOrderClient {
  readonly book: ReceiptBook;
  readonly unsettled: UnsettledRequests;
  /** Nonces of the requests that placed orders. */
  private readonly placed = new Set<number>();
  /** Orders that were asked to be canceled. */
  private readonly canceled = new Set<string>();
  private last: { readonly subject: string; readonly answer: Promise<OrderResult> } | undefined;

  constructor(private readonly services: OrderServices) {
    this.book = new ReceiptBook(services);
    this.unsettled = new UnsettledRequests(
      services.clock,
      () => this.validity(),
      () => this.askTime(),
    );
  }

  /** Whether a press here has placed it; known before the stream or an answer shows it. */
  hasPlaced({ nonce }: Pick<Order, "nonce">): boolean {
    return this.placed.has(nonce);
  }

  /** Whether a press here has canceled it, or the order whose exit it is. */
  hasCanceled({ orderId, parentOrderId, reason }: Order): boolean {
    if (reason === "requested") return this.canceled.has(orderId);
    return parentOrderId !== undefined && this.canceled.has(parentOrderId);
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
    const title = t.results.subjects.order(
      t.words.acts[order.side],
      t.words.typesInSentence[order.type],
      order.symbol,
    );
    const answer = this.unsettled.submit({
      session,
      subject,
      title,
      places: 1,
      send: (terms, options) => this.placeOnce(session, { ...order, ...terms }, options),
      outcomeIn: ({ ack }) => shownOutcome([{ status: 200, ack }]),
    });
    const last = { subject, answer };
    this.last = last;
    const forget = () => {
      if (this.last === last) this.last = undefined;
    };
    // A refused order may be sent again immediately.
    answer.then(() => setTimeout(forget, SAME_ORDER_MS), forget);
    return answer;
  }

  /** The session has ended. */
  forget(): void {
    this.book.forget();
    this.unsettled.forget();
    this.placed.clear();
    this.canceled.clear();
    this.last = undefined;
  }

  /** Changes an open order. */
  amend(session: Session, amendment: OrderAmendment) {
    const id = `${amendment.orderId ?? amendment.clientOrderId}`;
    return this.unsettled.submit({
      session,
      subject: `change ${id}`,
      title: t.results.subjects.change(id),
      send: (terms, options) => session.amendOrder({ ...amendment, ...terms }, options),
      outcomeIn: (ack) => shownOutcome([{ status: 200, ack }]),
    });
  }

  /** Sends several operations with one signature; `name` says what they do together. */
  batch(session: Session, operations: readonly NewOperation[], name: RequestName) {
    for (const operation of operations) {
      if (operation.op === "cancel" && operation.orderId !== undefined) {
        this.canceled.add(operation.orderId);
      }
    }
    return this.unsettled.submit({
      session,
      ...name,
      places: operations.every(({ op }) => op === "place") ? operations.length : undefined,
      send: (terms, options) => {
        this.placed.add(terms.nonce);
        return session.batch(operations, { ...terms, ...options });
      },
      outcomeIn: ({ results }) => shownOutcome(results),
    });
  }

  /** Moves dollars into the margin of a position, or out of it. The interface gives it no end of validity. */
  changeMargin(session: Session, symbol: string, amount: number) {
    return this.unsettled.submit({
      session,
      subject: `margin ${symbol}`,
      title: t.results.subjects.margin(symbol),
      send: ({ nonce }, options) => session.changeMargin(symbol, amount, { nonce, ...options }),
      outcomeIn: () => EXECUTED,
    });
  }

  /** Has money paid to the account's own address. */
  withdraw(session: Session, terms: WithdrawalTerms) {
    const { chain, token, amount } = terms;
    return this.unsettled.submit({
      session,
      // Of any amount: two may not be on their way because the first one's answer was lost.
      subject: "withdrawal",
      title: t.results.subjects.withdrawal(amount.toFixed(2), token, chain),
      withdraws: true,
      send: ({ nonce }, options) => session.withdraw(terms, { nonce, ...options }),
      outcomeIn: () => EXECUTED,
    });
  }

  /** Cancels an order. It has no nonce: that the order is canceled is the answer to the first try. */
  async cancel(session: Session, orderId: string): Promise<void> {
    const options = { ...(await this.validity()), budgetMs: BUDGET_MS };
    this.canceled.add(orderId);
    await this.unsettled.once(
      session,
      { subject: `cancel ${orderId}`, title: t.results.subjects.cancel(orderId) },
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
    for (const orderId of open) this.canceled.add(orderId);
    return this.unsettled.once(
      session,
      { subject: CANCEL_ALL, title: t.results.subjects.cancelAll },
      () => session.cancelAll({ retries: 0, budgetMs: BUDGET_MS }),
      async () => {
        for (const orderId of open) {
          await cancelAgain(session, orderId, { budgetMs: BUDGET_MS }).catch(throwUnlessEnded);
        }
      },
    );
  }

  /** Cancels these orders and no others; returns how many were still open. */
  async cancelEach(session: Session, orderIds: readonly string[]): Promise<number> {
    const name = { subject: CANCEL_ALL, title: t.results.subjects.cancelAll };
    let count = 0;
    for (let at = 0; at < orderIds.length; at += MAX_BATCH_OPERATIONS) {
      const some = orderIds.slice(at, at + MAX_BATCH_OPERATIONS);
      const operations = some.map((orderId): NewOperation => ({ op: "cancel", orderId }));
      const { results } = await this.batch(session, operations, name);
      for (const refusal of refusalsIn(results)) throwUnlessEnded(refusal);
      count += results.filter(({ canceled }) => canceled !== undefined).length;
    }
    return count;
  }

  /** @throws ConnectionError, not sent, unless the line is live and the venue's time can be known. */
  private async validity(): Promise<{ readonly validUntil: number }> {
    const { line, clock } = this.services;
    line.requireLive();
    const known = clock.now();
    if (known !== undefined) return { validUntil: known + VALID_MS };
    const now = await this.askTime();
    line.requireLive();
    return { validUntil: now + VALID_MS };
  }

  private async askTime(): Promise<number> {
    const { client, clock } = this.services;
    const time = await client.time(TIME_RULES).catch((cause: unknown) => {
      throw new ConnectionError("the venue's time is not known", { cause, outcome: "not_sent" });
    });
    clock.note(time);
    return time;
  }

  private async placeOnce(
    session: Session,
    order: NewOrder,
    options: SendOptions,
  ): Promise<OrderResult> {
    const begin = performance.now();
    if (order.nonce !== undefined) this.placed.add(order.nonce);
    const { replayed, ...ack } = await fastestTransport(session).placeOrder(order, options);
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

/** An open socket is faster than a request; REST does not wait for a socket. */
function fastestTransport(session: Session): Pick<Session, "placeOrder"> {
  return session.stream.state === "open" ? session.stream : session;
}
