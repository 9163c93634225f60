/**
 * Sends orders, amendments and batches, and measures the latency of orders.
 *
 * Nothing is sent unless the line is live and, but for *Cancel all*, the venue's time known. What is signed carries `validUntil`,
 * so that bytes that a dead line held back do nothing when they arrive later. A request without an answer
 * stays listed as unsettled; once the line is back the same bytes with the same nonce settle it: the venue
 * returns the answer to the first try, or refuses the request as too late. If its session ends before that,
 * or the page is loaded again, the account's next session looks for the orders with that nonce.
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
  type PerpgateClient,
  PerpgateError,
  type Session,
} from "@perpgate/sdk";
import { type Outcome, outcomeOf } from "../order/send-batch.js";
import { Store } from "../state/store.js";
import type { Line } from "./line.js";
import { newResult, type OrderResult } from "./order-result.js";
import { type ProofSources, ReceiptBook } from "./receipt-book.js";
import { type SentRequest, SentRequests } from "./sent-requests.js";
import type { VenueClock } from "./venue-clock.js";

/** A request is not retried after this time: the market has moved on. */
const BUDGET_MS = 5_000;
/** And not executed after this one, which leaves the last try its time. */
const VALID_MS = 10_000;
const SAME_ORDER_MS = 500;
/** A press does not wait longer for the venue's time. */
const TIME_RULES = { retries: 0, timeoutMs: 2_000 };

/** A signed request that was sent and has no answer. */
export interface Unsettled {
  readonly key: string;
  /** Undefined for a cancel, which has none. */
  readonly nonce?: number;
  /** The account that sent it. */
  readonly address: string;
  /** What it is about: see `StillPendingError`. */
  readonly subject: string;
  /** What it does, in words. */
  readonly title: string;
  /** Sends the same bytes again. */
  repeat(): Promise<Outcome>;
  /** Asks in a later session of the account, for which the same bytes would be another request. */
  lookUp(session: Session): Promise<Outcome>;
}

export interface Settlement extends Outcome {
  readonly title: string;
}

/** Not sent: an earlier request about the same thing has no answer yet. */
export class StillPendingError extends Error {
  override readonly name = "StillPendingError";
}

/** What every signed request has besides its own fields. */
interface Terms {
  readonly validUntil: number;
  readonly nonce: number;
}

interface SendOptions {
  readonly budgetMs: number;
  readonly isRepeat: boolean;
}

/** A signed request, which its nonce settles. */
interface SignedRequest<T> {
  readonly session: Session;
  readonly subject: string;
  readonly title: string;
  /** How many orders it places; undefined for what the orders with its nonce do not show. */
  readonly places?: number | undefined;
  send(terms: Terms, options: SendOptions): Promise<T>;
  outcomeIn(answer: T): Outcome;
}

const EXECUTED: Outcome = { outcome: "executed" };
const UNKNOWN: Outcome = { outcome: "outcome unknown" };

export interface OrderServices extends ProofSources {
  readonly client: ProofSources["client"] & Pick<PerpgateClient, "time">;
  readonly line: Pick<Line, "requireLive">;
  readonly clock: VenueClock;
}

export class OrderClient {
  readonly book: ReceiptBook;
  readonly unsettled = new Store<readonly Unsettled[]>([], "immediate");
  private last: { readonly subject: string; readonly answer: Promise<OrderResult> } | undefined;
  /** Subjects of the requests in flight. */
  private readonly inFlight = new Set<string>();
  /** The session that was resumed last, until it ends. */
  private current: Session | undefined;
  private readonly sent = new SentRequests();
  /** What ended sessions, and the page before a reload, have left unsettled. */
  private left: readonly Unsettled[];

  constructor(private readonly services: OrderServices) {
    this.book = new ReceiptBook(services);
    this.left = this.sent.all.map((request) => this.lookedUp(request));
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
    const answer = this.submit({
      session,
      subject,
      title,
      places: 1,
      send: (terms, options) => this.placeOnce(session, { ...order, ...terms }, options),
      outcomeIn: ({ ack }) => outcomeOf([{ status: 200, ack }]),
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

  /** The session has begun: what earlier ones of the account have left unsettled is settled in it. */
  resume(session: Session): void {
    this.current = session;
    const isOwn = ({ address }: Unsettled) => address === session.address;
    const own = this.left.filter(isOwn);
    if (own.length === 0) return;
    this.left = this.left.filter((each) => !isOwn(each));
    const asked = own.map((each) => ({ ...each, repeat: () => each.lookUp(session) }));
    this.unsettled.update((known) => [...known, ...asked]);
  }

  /** The session has ended. */
  forget(): void {
    this.book.forget();
    this.current = undefined;
    this.left = [...this.left, ...this.unsettled.get()];
    this.unsettled.set([]);
    this.last = undefined;
  }

  /** Changes an open order. */
  amend(session: Session, amendment: OrderAmendment) {
    const title = `Change of order ${amendment.orderId ?? amendment.clientOrderId}`;
    return this.submit({
      session,
      subject: title,
      title,
      send: (terms, options) => session.amendOrder({ ...amendment, ...terms }, options),
      outcomeIn: (ack) => outcomeOf([{ status: 200, ack }]),
    });
  }

  /** Sends several operations with one signature; `subject` says what they do together. */
  batch(session: Session, operations: readonly NewOperation[], subject: string) {
    return this.submit({
      session,
      subject,
      title: subject,
      places: operations.every(({ op }) => op === "place") ? operations.length : undefined,
      send: (terms, options) => session.batch(operations, { ...terms, ...options }),
      outcomeIn: ({ results }) => outcomeOf(results),
    });
  }

  /** Moves dollars into the margin of a position, or out of it. The interface gives it no end of validity. */
  changeMargin(session: Session, symbol: string, amount: number) {
    const title = `Change of the margin of ${symbol}`;
    return this.submit({
      session,
      subject: title,
      title,
      send: ({ nonce }, options) => session.changeMargin(symbol, amount, { nonce, ...options }),
      outcomeIn: () => EXECUTED,
    });
  }

  /** Cancels an order. It has no nonce: that the order is canceled is the answer to the first try. */
  async cancel(session: Session, orderId: string): Promise<void> {
    const options = { ...(await this.validity()), budgetMs: BUDGET_MS };
    await this.once(
      session,
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
      session,
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
      const { title } = unsettled;
      try {
        settlements.push({ title, ...(await unsettled.repeat()) });
      } catch (error) {
        if (!(error instanceof PerpgateError) || error.outcome === "unknown") continue;
        settlements.push({ title, outcome: "not executed", error });
      }
      this.drop(unsettled);
    }
    return settlements;
  }

  private submit<T>(request: SignedRequest<T>): Promise<T> {
    const { session, subject, title, places } = request;
    const { address } = session;
    const owner = this.current;
    return this.guarded(subject, async () => {
      const terms = { ...(await this.validity()), nonce: session.newNonce() };
      const sent = { address, ...terms, places, subject, title };
      const send = (isRepeat: boolean) => request.send(terms, { budgetMs: BUDGET_MS, isRepeat });
      this.sent.add(sent);
      try {
        const answer = await send(false);
        this.sent.remove(sent);
        return answer;
      } catch (error) {
        if (isUnknown(error)) {
          const repeat = async () => {
            try {
              return request.outcomeIn(await send(true));
            } catch (again) {
              // Another gateway has refused it: the first may execute it while it is valid.
              if (isRefusal(again) && (await this.isOver(sent))) return this.lookUp(session, sent);
              throw again;
            }
          };
          this.keep(owner, { ...this.lookedUp(sent), repeat });
        } else {
          this.sent.remove(sent);
        }
        throw error;
      }
    });
  }

  /** Without its bytes: a later session of the account asks for it. */
  private lookedUp(sent: SentRequest): Unsettled {
    const { nonce, address, subject, title } = sent;
    const lookUp = (later: Session) => this.lookUp(later, sent);
    return {
      key: String(nonce),
      nonce,
      address,
      subject,
      title,
      repeat: async () => UNKNOWN,
      lookUp,
    };
  }

  /** Sends a request without a nonce, which `settle` settles. */
  private once<T>(
    { address }: Session,
    title: string,
    send: () => Promise<T>,
    settle: () => Promise<unknown>,
  ): Promise<T> {
    const owner = this.current;
    return this.guarded(title, async () => {
      try {
        return await send();
      } catch (error) {
        const repeat = () => settle().then(() => EXECUTED);
        const lookUp = async () => UNKNOWN;
        const unsettled = { key: title, address, subject: title, title, repeat, lookUp };
        if (isUnknown(error)) this.keep(owner, unsettled);
        throw error;
      }
    });
  }

  /** @throws ConnectionError, of unknown outcome, while the orders may still appear or cannot be read. */
  private async lookUp(session: Session, sent: SentRequest): Promise<Outcome> {
    const { nonce, places } = sent;
    const isOver = await this.isOver(sent);
    if (places === undefined) {
      if (!isOver) throw new ConnectionError("it may still be executed");
      return UNKNOWN;
    }
    const found = await session.orders({ status: "all", nonce }).catch((cause: unknown) => {
      throw new ConnectionError("the orders could not be read", { cause });
    });
    if (found.length === 0 && !isOver) throw new ConnectionError("it may still be executed");
    const parts = Array.from({ length: places }, (_, at) => {
      const ack = found[at];
      if (ack === undefined) return { status: 400 };
      // A stop was taken, whatever became of it since.
      return {
        status: 200,
        ack: ack.type === "stop" ? { ...ack, status: "pending" as const } : ack,
      };
    });
    return outcomeOf(parts);
  }

  /**
   * Whether the log has passed the end of its validity, so that it appears now or never. The time between
   * samples does not count: a log that stands still executes what it has taken at its own, earlier time.
   *
   * @throws ConnectionError if the venue's time cannot be asked for.
   */
  private async isOver({ validUntil }: Pick<SentRequest, "validUntil">): Promise<boolean> {
    const { clock } = this.services;
    const hasPassed = () => (clock.reached ?? 0) > validUntil;
    if (!hasPassed() && (clock.now() ?? 0) > validUntil) await this.askTime();
    return hasPassed();
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

  /** `owner` was the current session when it was sent; that one may have ended since. */
  private keep(owner: Session | undefined, unsettled: Unsettled): void {
    if (owner === this.current) {
      this.unsettled.update((known) => [...known, unsettled]);
      return;
    }
    this.left = [...this.left, unsettled];
    if (this.current !== undefined) this.resume(this.current);
  }

  private drop({ key, address, nonce }: Unsettled): void {
    if (nonce !== undefined) this.sent.remove({ address, nonce });
    const isOther = (each: Unsettled) => each.key !== key || each.address !== address;
    this.unsettled.update((known) => known.filter(isOther));
    this.left = this.left.filter(isOther);
  }

  private async placeOnce(
    session: Session,
    order: NewOrder,
    options: SendOptions,
  ): Promise<OrderResult> {
    const begin = performance.now();
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

export function isUnknown(error: unknown): error is ConnectionError | PerpgateError {
  if (!(error instanceof ConnectionError || error instanceof PerpgateError)) return false;
  return error.outcome === "unknown";
}

/** Statuses that say nothing about the request itself: the session has ended, or it was not read. */
const NO_REFUSALS: readonly number[] = [401, 408, 429];

/** Whether a gateway has refused it, although its outcome is unknown: an earlier try went to another one. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof PerpgateError) || !isUnknown(error)) return false;
  const { status } = error;
  return status >= 400 && status < 500 && !NO_REFUSALS.includes(status);
}

/** An open socket is faster than a request; REST does not wait for a socket. */
function fastestTransport(session: Session): Pick<Session, "placeOrder"> {
  return session.stream.state === "open" ? session.stream : session;
}
