/**
 * One bot's account: signed in as long as the crowd runs, with its orders and positions as the
 * venue's streams tell them.
 *
 * In: orders and cancels. Out: what became of them, as a word. It never throws for what the venue or
 * the network does. A lost session is signed in again with backoff; the streams mend themselves. A
 * dead-man's switch is kept wound: if the crowd dies, its quotes are gone within a minute.
 */

import {
  ConnectionError,
  type NewOrder,
  type PerpgateClient,
  PerpgateError,
  type PositionsFrame,
  type Session,
} from "@perpgate/sdk";
import type { PrivateKeyAccount } from "viem/accounts";
import type { BotLog, BotVenue } from "../bot-settings.js";
import { sleepUnlessAborted } from "../sleep.js";
import { OrderShelf } from "./order-shelf.js";
import { Purse } from "./purse.js";
import type { SignInQueue } from "./sign-in-queue.js";

export interface BotAccountParts {
  readonly client: PerpgateClient;
  readonly venue: BotVenue;
  readonly log: BotLog;
  readonly signIns: SignInQueue;
  readonly wallet: PrivateKeyAccount;
  readonly name: string;
  /** Dollars that it works with. */
  readonly capital: number;
  /** Whether its orders rest, and so need a switch that ends them. */
  readonly isMaker: boolean;
}

/** `filled`, `resting` and so on, or the code of the refusal, or `no_answer`. */
export type Placed = string;

export interface HeldPosition {
  /** Signed, in units of base. */
  readonly size: number;
  readonly avgEntry: number;
}

const SWITCH_MS = 60_000;
/** Between two looks at money and cohort: soon while something is missing, seldom after that. */
const SOON_MS = 5_000;
const MAKER_SELDOM_MS = 20_000;
const TAKER_SELDOM_MS = 60_000;
/** A session is renewed this long before it ends. */
const RENEW_BEFORE_MS = 600_000;
const BACKOFF = { firstMs: 1_000, longestMs: 60_000 };
/** A quote that is late is better sent anew, for another price. */
const HASTE = { retries: 1, timeoutMs: 5_000, budgetMs: 6_000 };

export class BotAccount {
  readonly name: string;
  readonly orders = new OrderShelf();
  readonly positions = new Map<string, HeldPosition>();
  private readonly purse: Purse;
  private session: Session | undefined;
  /** Its orders are known, so that it can go on from them. */
  private isInformed = false;
  private isInCohort = true;
  private readonly stopping = new AbortController();
  private renewal = new AbortController();
  private kept: Promise<void> = Promise.resolve();

  constructor(private readonly parts: BotAccountParts) {
    this.name = parts.name;
    this.purse = new Purse(parts.capital);
  }

  get address(): string {
    return this.parts.wallet.address;
  }

  /** Whether it can trade now. */
  get isReady(): boolean {
    return this.session !== undefined && this.isInformed && this.isInCohort;
  }

  start(): void {
    this.kept = this.keepSignedIn();
  }

  async place(order: NewOrder): Promise<Placed> {
    const { session } = this;
    if (session === undefined) return "no_answer";
    try {
      const ack = await session.stream.placeOrder(order, HASTE);
      this.orders.onPlaced(ack, order.price ?? 0);
      return ack.status;
    } catch (error) {
      return this.refusal(error, session);
    }
  }

  async cancel(symbol: string, orderId: string): Promise<void> {
    const { session } = this;
    if (session === undefined) return;
    try {
      await session.stream.cancelOrder(orderId, HASTE);
      this.orders.onGone(symbol, orderId);
    } catch (error) {
      const code = this.refusal(error, session);
      const isGone = code === "order_not_cancelable" || code === "order_not_found";
      if (isGone) this.orders.onGone(symbol, orderId);
    }
  }

  /** Cancels what rests and signs out, within the time that is given. */
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
        // The switch does it.
      }
    }
    await Promise.race([this.kept, sleepUnlessAborted(withinMs / 2, new AbortController().signal)]);
  }

  private async keepSignedIn(): Promise<void> {
    const { log, name } = this.parts;
    let failures = 0;
    while (!this.stopping.signal.aborted) {
      try {
        await this.live(() => {
          failures = 0;
        });
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        // One line for trouble that lasts, and quiet backoff after that.
        if (failures === 0)
          log.warn("a bot lost its session", { bot: name, reason: textOf(error) });
        const waitMs = Math.min(BACKOFF.longestMs, BACKOFF.firstMs * 2 ** Math.min(failures, 10));
        failures++;
        await sleepUnlessAborted(waitMs, this.stopping.signal);
      }
    }
  }

  /** One session, from sign-in to its renewal; throws if it is lost. */
  private async live(onSuccess: () => void): Promise<void> {
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
      await Promise.race([lost, this.doChores(session, renewal, onSuccess)]);
      this.renewal.signal.throwIfAborted();
    } finally {
      if (this.session === session) this.session = undefined;
      this.isInformed = false;
      if (!signal.aborted) session.stream.close();
    }
  }

  /** Follows orders and positions; rejects when the session is over. */
  private watch(session: Session): Promise<never> {
    const { stream } = session;
    return new Promise((_, reject) => {
      const onProblem = ({ error }: { readonly error?: Error }) => {
        if (error !== undefined) reject(error);
      };
      stream.watchOrders(
        (frame) => {
          this.orders.onFrame(frame);
          if (frame.type === "snapshot") this.isInformed = true;
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

  /** Winds the switch and looks after the money until the session has to be renewed. */
  private async doChores(
    session: Session,
    signal: AbortSignal,
    onSuccess: () => void,
  ): Promise<void> {
    const endsAtMs = session.expiresAt - RENEW_BEFORE_MS;
    const seldomMs = this.parts.isMaker ? MAKER_SELDOM_MS : TAKER_SELDOM_MS;
    while (!signal.aborted && Date.now() < endsAtMs) {
      let waitMs = SOON_MS;
      try {
        if (this.parts.isMaker) await session.cancelAfter(SWITCH_MS, HASTE);
        const { isInCohort, isFunded } = await this.purse.look(session, performance.now());
        this.noteCohort(isInCohort);
        if (isInCohort && isFunded) waitMs = seldomMs;
        onSuccess();
      } catch (error) {
        if (isOver(error)) throw error;
        // Anything else mends itself, or shows in what the bot wants to do next.
      }
      await sleepUnlessAborted(waitMs, signal);
    }
  }

  private noteCohort(isInCohort: boolean): void {
    const { log, name } = this.parts;
    if (this.isInCohort && !isInCohort) log.info("a bot waits for the cohort", { bot: name });
    this.isInCohort = isInCohort;
  }

  private refusal(error: unknown, session: Session): string {
    if (error instanceof ConnectionError) return "no_answer";
    if (!(error instanceof PerpgateError)) throw error;
    const { code } = error;
    if (code === "insufficient_margin") this.purse.noteShort();
    if (code === "not_in_cohort") this.noteCohort(false);
    if (isOver(error) && this.session === session) this.renewal.abort(error);
    return code;
  }
}

function isOver(error: unknown): boolean {
  return error instanceof PerpgateError && error.status === 401;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
