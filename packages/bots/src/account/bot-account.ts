/**
 * One bot's account: signed in as long as the crowd runs, with its orders and positions from the
 * venue's streams.
 *
 * `place` and `change` never throw for what the venue or the network does. A lost session is signed
 * in again with backoff; the SDK restores the streams. The venue's cancel timer is reset regularly:
 * if the crowd crashes, its quotes are canceled within a minute.
 */

import { MAX_BATCH_OPERATIONS } from "@perpgate/protocol";
import {
  type BatchResult,
  ConnectionError,
  type NewOperation,
  type NewOrder,
  type PerpgateClient,
  PerpgateError,
  type PositionsFrame,
  type Session,
} from "@perpgate/sdk";
import type { PrivateKeyAccount } from "viem/accounts";
import type { BotLog, BotVenue } from "../bot-settings.js";
import { retryWaitMs, sleepUnlessAborted } from "../sleep.js";
import { BotFunds } from "./bot-funds.js";
import { OpenOrders } from "./open-orders.js";

interface BotAccountParts {
  readonly client: PerpgateClient;
  readonly venue: BotVenue;
  readonly log: BotLog;
  readonly signIns: SignInQueue;
  readonly wallet: PrivateKeyAccount;
  readonly name: string;
  /** Dollars that it works with. */
  readonly capital: number;
  /** Whether its orders rest, and so need the cancel timer. */
  readonly isMaker: boolean;
}

/** A new quote, a quote that moves and keeps its id, or one that goes. */
export type QuoteChange =
  | (Extract<NewOperation, { op: "place" }> & { readonly price: number })
  | {
      readonly op: "amend";
      readonly orderId: string;
      readonly price: number;
      readonly size: number;
    }
  | { readonly op: "cancel"; readonly orderId: string };

/** The status of the order, or the code of the error, or `no_answer`. */
export type Placed = string;

export interface HeldPosition {
  /** Signed, in units of base. */
  readonly size: number;
  readonly avgEntry: number;
}

/** An amendment or a cancel of an order that has ended. */
const FINISHED: ReadonlySet<string> = new Set([
  "order_not_cancelable",
  "order_not_amendable",
  "order_not_found",
]);
/** The status of an error that ends the session. */
const ENDED = 401;
const CANCEL_TIMER_MS = 60_000;
/** Between two checks of money and cohort: short while something is missing. */
const SHORT_INTERVAL_MS = 5_000;
const MAKER_INTERVAL_MS = 20_000;
const TAKER_INTERVAL_MS = 60_000;
/** A session is renewed this long before it ends. */
const RENEW_BEFORE_MS = 600_000;
/** Few retries: a late quote is better replaced by one at the current price. */
const QUOTE_CALL = { retries: 1, timeoutMs: 5_000, budgetMs: 6_000 };

export class BotAccount {
  readonly name: string;
  readonly orders = new OpenOrders();
  readonly positions = new Map<string, HeldPosition>();
  private readonly funds: BotFunds;
  private session: Session | undefined;
  /** Whether the snapshot of its orders has arrived. */
  private hasSnapshot = false;
  private isInCohort = true;
  private readonly stopping = new AbortController();
  private renewal = new AbortController();
  private kept: Promise<void> = Promise.resolve();

  constructor(private readonly parts: BotAccountParts) {
    this.name = parts.name;
    this.funds = new BotFunds(parts.capital);
  }

  get address(): string {
    return this.parts.wallet.address;
  }

  set capital(dollars: number) {
    this.funds.capital = dollars;
  }

  /** Whether it can trade now. */
  get isReady(): boolean {
    return this.session !== undefined && this.hasSnapshot && this.isInCohort;
  }

  start(): void {
    this.kept = this.keepSignedIn();
  }

  async place(order: NewOrder): Promise<Placed> {
    const { session } = this;
    if (session === undefined) return "no_answer";
    try {
      const ack = await session.stream.placeOrder(order, QUOTE_CALL);
      this.orders.onPlaced(ack, order.price ?? 0);
      return ack.status;
    } catch (error) {
      return this.codeOf(error, session);
    }
  }

  /** Sends changes of quotes in as few batches as they fit into; what became of each, in order. */
  async change(symbol: string, changes: readonly QuoteChange[]): Promise<Placed[]> {
    const outcomes: Placed[] = [];
    for (let at = 0; at < changes.length; at += MAX_BATCH_OPERATIONS) {
      const some = changes.slice(at, at + MAX_BATCH_OPERATIONS);
      outcomes.push(...(await this.changeSome(symbol, some)));
    }
    return outcomes;
  }

  private async changeSome(symbol: string, changes: readonly QuoteChange[]): Promise<Placed[]> {
    const { session } = this;
    if (session === undefined) return changes.map(() => "no_answer");
    try {
      const { results } = await session.stream.batch(changes, QUOTE_CALL);
      return changes.map((change, i) => this.note(symbol, change, results[i], session));
    } catch (error) {
      const code = this.codeOf(error, session);
      return changes.map(() => code);
    }
  }

  private note(
    symbol: string,
    change: QuoteChange,
    result: BatchResult | undefined,
    session: Session,
  ): Placed {
    if (result?.ack !== undefined) {
      const price = change.op === "cancel" ? 0 : change.price;
      this.orders.onPlaced({ ...result.ack, replayed: false }, price);
      return result.ack.status;
    }
    const orderId = change.op === "place" ? undefined : change.orderId;
    const code = result?.error?.code ?? "canceled";
    if (orderId !== undefined && (code === "canceled" || FINISHED.has(code))) {
      this.orders.onFinished(symbol, orderId);
    }
    if (result?.error !== undefined) this.noteCode(code, result.status, session);
    return code;
  }

  /** Cancels resting orders and signs out, within the given time. */
  async stop(withinMs: number): Promise<void> {
    this.stopping.abort();
    const { session } = this;
    this.session = undefined;
    if (session !== undefined) {
      const call = { retries: 1, timeoutMs: withinMs / 2, budgetMs: withinMs / 2 };
      try {
        if (this.parts.isMaker) await session.cancelAll(call);
        await session.signOut(call);
      } catch {
        // The cancel timer cancels the orders.
      }
    }
    await Promise.race([this.kept, sleepUnlessAborted(withinMs / 2, new AbortController().signal)]);
  }

  private async keepSignedIn(): Promise<void> {
    const { log, name } = this.parts;
    let failures = 0;
    while (!this.stopping.signal.aborted) {
      try {
        await this.runSession(() => {
          failures = 0;
        });
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        // Logged once per series of failures.
        if (failures === 0) {
          log.warn("a bot lost its session", { bot: name, reason: textOf(error) });
        }
        const waitMs = retryWaitMs(failures);
        failures++;
        await sleepUnlessAborted(waitMs, this.stopping.signal);
      }
    }
  }

  /** One session, from sign-in until it must be renewed; throws if it is lost. */
  private async runSession(onSuccess: () => void): Promise<void> {
    const { client, venue, wallet, signIns } = this.parts;
    const signal = this.stopping.signal;
    await signIns.turn(signal);
    if (signal.aborted) return;
    const { domain, chainId } = venue;
    const session = await client.signIn({
      account: wallet,
      statement: "A bot of the Perpgate testnet signs in.",
      ...(domain === undefined ? {} : { domain }),
      ...(chainId === undefined ? {} : { chainId }),
      signal,
    });
    this.renewal = new AbortController();
    const renewal = AbortSignal.any([signal, this.renewal.signal]);
    const lost = this.watch(session);
    this.session = session;
    try {
      await Promise.race([lost, this.maintain(session, renewal, onSuccess)]);
      this.renewal.signal.throwIfAborted();
    } finally {
      if (this.session === session) this.session = undefined;
      this.hasSnapshot = false;
      if (!signal.aborted) session.stream.close();
    }
  }

  /** Follows orders and positions; rejects when the session has ended. */
  private watch(session: Session): Promise<never> {
    const { stream } = session;
    return new Promise((_, reject) => {
      const onProblem = ({ error }: { readonly error?: Error }) => {
        if (error !== undefined) reject(error);
      };
      stream.watchOrders(
        (frame) => {
          this.orders.onFrame(frame);
          if (frame.type === "snapshot") this.hasSnapshot = true;
        },
        { onProblem },
      );
      stream.watchPositions((frame) => this.onPositions(frame), { onProblem });
    });
  }

  private onPositions({ type, positions }: PositionsFrame): void {
    if (type === "snapshot") this.positions.clear();
    for (const position of positions) {
      const { symbol, size } = position;
      if (size === 0 || !("avgEntry" in position)) this.positions.delete(symbol);
      else this.positions.set(symbol, { size, avgEntry: position.avgEntry });
    }
  }

  /** Resets the cancel timer and checks the money until the session must be renewed. */
  private async maintain(
    session: Session,
    signal: AbortSignal,
    onSuccess: () => void,
  ): Promise<void> {
    const endsAtMs = session.expiresAt - RENEW_BEFORE_MS;
    const intervalMs = this.parts.isMaker ? MAKER_INTERVAL_MS : TAKER_INTERVAL_MS;
    while (!signal.aborted && Date.now() < endsAtMs) {
      let waitMs = SHORT_INTERVAL_MS;
      try {
        if (this.parts.isMaker) await session.cancelAfter(CANCEL_TIMER_MS, QUOTE_CALL);
        const { isInCohort, isFunded } = await this.funds.check(session, performance.now());
        this.noteCohort(isInCohort);
        if (isInCohort && isFunded) waitMs = intervalMs;
        onSuccess();
      } catch (error) {
        if (hasEnded(error)) throw error;
        // Other errors are transient, or the next order reports them.
      }
      await sleepUnlessAborted(waitMs, signal);
    }
  }

  private noteCohort(isInCohort: boolean): void {
    const { log, name } = this.parts;
    if (this.isInCohort && !isInCohort) log.info("a bot waits for the cohort", { bot: name });
    this.isInCohort = isInCohort;
  }

  private codeOf(error: unknown, session: Session): string {
    if (error instanceof ConnectionError) return "no_answer";
    if (!(error instanceof PerpgateError)) throw error;
    this.noteCode(error.code, error.status, session);
    return error.code;
  }

  private noteCode(code: string, status: number, session: Session): void {
    if (code === "insufficient_margin") this.funds.noteShort();
    if (code === "not_in_cohort") this.noteCohort(false);
    if (status === ENDED && this.session === session) this.renewal.abort(new Error(code));
  }
}

function hasEnded(error: unknown): boolean {
  return error instanceof PerpgateError && error.status === ENDED;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Spaces sign-ins below the limit per address, so that people can still sign in from the same
 * machine.
 */
export class SignInQueue {
  private nextAtMs = 0;

  constructor(private readonly everyMs: number) {}

  async turn(signal: AbortSignal): Promise<void> {
    const atMs = Math.max(performance.now(), this.nextAtMs);
    this.nextAtMs = atMs + this.everyMs;
    await sleepUnlessAborted(atMs - performance.now(), signal);
  }
}
