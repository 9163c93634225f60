/**
 * A session: one sign-in, its token and its key. It places and cancels orders, reads the account,
 * and ends itself. Everything that changes something says here what happens if the answer is lost.
 */

import {
  CanceledOrder,
  CanceledOrders,
  CancelTimer,
  type Chain,
  Deposit,
  EndedSession,
  PreconfirmAck,
  RotatedSession,
  type SessionKeyKind,
  type Token,
} from "@perpgate/protocol";
import type { Static, TSchema } from "typebox";
import { AccountReader } from "./account-reader.js";
import { PerpgateError } from "./errors.js";
import type { Answer, HttpClient } from "./http/http-client.js";
import type { CallOptions } from "./http/retry.js";
import { Nonces } from "./orders/nonces.js";
import type { NewOrder } from "./orders/order-body.js";
import { type OrderCarrier, OrderDesk, type PlacedOrder } from "./orders/order-desk.js";
import type { SavedSession, StoredSession } from "./saved-session.js";
import { SessionKeyRing } from "./session-key/key-ring.js";
import { createSessionKey, type SessionKey } from "./session-key/session-key.js";
import { SessionStream } from "./streams/session-stream.js";
import type { StreamSocket } from "./streams/stream-socket.js";

export interface SessionParts {
  readonly http: HttpClient;
  readonly address: string;
  readonly token: string;
  readonly expiresAt: number;
  readonly key: SessionKey;
  readonly lastNonce?: number;
  newSocket(token: string): StreamSocket;
}

export interface DepositRequest {
  readonly chain: Chain;
  readonly txHash: string;
  readonly token: Token;
}

export interface RotateOptions extends CallOptions {
  readonly sessionKeyKind?: SessionKeyKind;
  /** The new key; one is made if there is none. */
  readonly sessionKey?: SessionKey;
}

export class Session extends AccountReader {
  /** The account, as an EIP-55 address. */
  readonly address: string;
  /** What authorises reads and cancels; keep it like a password. */
  readonly token: string;
  /** Unix milliseconds, by the server's clock. */
  readonly expiresAt: number;
  private readonly http: HttpClient;
  private readonly nonces: Nonces;
  private readonly desk: OrderDesk;
  private readonly keys: SessionKeyRing;
  private readonly newSocket: () => StreamSocket;
  private opened: SessionStream | undefined;
  private isEnded = false;

  /** @internal */
  constructor({ http, address, token, expiresAt, key, lastNonce, newSocket }: SessionParts) {
    super({ http, token });
    this.address = address;
    this.token = token;
    this.expiresAt = expiresAt;
    this.http = http;
    this.nonces = new Nonces(lastNonce);
    this.keys = new SessionKeyRing(key, async () => (await this.account()).session.sessionKey);
    this.desk = new OrderDesk(this.nonces, http.settings.rules, () => this.keys.current());
    this.newSocket = () => newSocket(token);
  }

  /** The public session key, hex. */
  get sessionKey(): string {
    return this.keys.known.publicKey;
  }

  /** The account, live; the connection is opened with the first watch or order. */
  get stream(): SessionStream {
    this.opened ??= new SessionStream({
      socket: this.newSocket(),
      desk: this.desk,
      rules: this.http.settings.rules,
      orders: this.http.lane(this.lane("orders")),
      cancels: this.http.lane(this.lane("cancels")),
      settleCancel: (orderId, error) => this.settleCancel(orderId, error),
    });
    if (this.isEnded) this.opened.close();
    return this.opened;
  }

  /**
   * Places an order; the answer is its preconfirmation, durable and in a block soon. If no answer
   * comes, the very same bytes are sent again, and the venue executes them at most once:
   * `replayed` tells that the answer is that of an earlier try.
   *
   * @example
   * const ack = await session.placeOrder({
   *   symbol: "BTCUSD", side: "long", type: "limit", margin: 100, leverage: 5, price: 60_000, postOnly: true,
   * });
   * console.log(ack.orderId, ack.status, ack.filledSize, ack.replayed);
   */
  placeOrder(order: NewOrder, options: CallOptions = {}): Promise<PlacedOrder> {
    return this.desk.place(order, options, this.carryOrder);
  }

  /**
   * Cancels an order. If the answer was lost and the order turns out to be canceled, that counts as
   * done; `order_not_cancelable` means that it was filled or canceled before.
   *
   * @example
   * const { orderId, remainingSize } = await session.cancelOrder("48213");
   * console.log(orderId, remainingSize);
   */
  async cancelOrder(orderId: string, options: CallOptions = {}): Promise<CanceledOrder> {
    const path = `/v1/orders/${encodeURIComponent(orderId)}/cancel`;
    try {
      return (await this.post(path, undefined, CanceledOrder, "cancels", options)).value;
    } catch (error) {
      return this.settleCancel(orderId, error);
    }
  }

  /**
   * Cancels all orders, or all of one market. If an answer was lost on the way, the list holds what
   * the last try found open, which may be less than was canceled in all.
   *
   * @example
   * const { canceled } = await session.cancelAll({ symbol: "BTCUSD" });
   * console.log(`${canceled.length} orders canceled`);
   */
  async cancelAll({
    symbol,
    ...options
  }: CallOptions & { readonly symbol?: string } = {}): Promise<CanceledOrders> {
    const body = JSON.stringify(symbol === undefined ? {} : { symbol });
    return (await this.post("/v1/orders/cancel-all", body, CanceledOrders, "cancels", options))
      .value;
  }

  /**
   * The dead-man's switch: cancels everything unless called again in time; 0 switches it off.
   *
   * @example
   * const { cancelAt } = await session.cancelAfter(30_000);
   * console.log(cancelAt === null ? "off" : new Date(cancelAt));
   */
  async cancelAfter(afterMs: number, options: CallOptions = {}): Promise<CancelTimer> {
    const body = JSON.stringify({ afterMs });
    return (await this.post("/v1/orders/cancel-after", body, CancelTimer, "cancels", options))
      .value;
  }

  /**
   * Registers a deposit by its transaction. Registering again answers the same deposit.
   *
   * @example
   * const { depositId, status } = await session.deposit({
   *   chain: "arbitrum", txHash: `0x${"ab".repeat(32)}`, token: "USDC",
   * });
   * console.log(depositId, status);
   */
  async deposit(
    { chain, txHash, token }: DepositRequest,
    options: CallOptions = {},
  ): Promise<Deposit> {
    const body = JSON.stringify({ chain, txHash, token });
    return (await this.post("/v1/bridge/deposit", body, Deposit, "deposits", options)).value;
  }

  /**
   * Replaces the session key; the token stays. Orders under way are waited for, new ones wait.
   *
   * @example
   * const { sessionKey } = await session.rotate();
   * console.log(sessionKey === session.sessionKey);
   */
  rotate({
    sessionKey,
    sessionKeyKind,
    ...options
  }: RotateOptions = {}): Promise<{ readonly sessionKey: string }> {
    return this.desk.alone(async () => {
      const { kind, secret } = this.keys.known;
      const saveable = secret !== undefined;
      const next =
        sessionKey ?? (await createSessionKey({ kind: sessionKeyKind ?? kind, saveable }));
      const body = JSON.stringify({ newSessionKey: next.publicKey });
      const signature = await this.desk.sign(body);
      await this.keys.replace(next, () =>
        this.post("/v1/auth/rotate", body, RotatedSession, "cancels", options, signature),
      );
      return { sessionKey: next.publicKey };
    });
  }

  /**
   * Ends the session at the venue and closes its stream. Resting orders stay.
   *
   * @example
   * await session.cancelAll();
   * await session.signOut();
   */
  async signOut(options: CallOptions = {}): Promise<void> {
    const { token, http } = this;
    const lane = this.lane("cancels");
    try {
      const path = "/v1/auth/session";
      await http.ask({ method: "DELETE", path, token, answer: EndedSession, lane, options });
    } catch (error) {
      // Ended by an earlier try whose answer was lost.
      const isEnded = error instanceof PerpgateError && error.code === "invalid_token";
      if (!isEnded || error.attempts === 1) throw error;
    }
    this.isEnded = true;
    this.opened?.close();
  }

  /**
   * The session as JSON, secret included: keep it like a password. A key that cannot be read, which
   * is the default in browsers, cannot be saved; see `store`.
   *
   * @example
   * const text = JSON.stringify(session.save());
   * const again = client.restore(JSON.parse(text));
   * console.log(again.address);
   */
  save(): SavedSession {
    const { kind, publicKey, secret } = this.keys.known;
    if (secret === undefined) {
      throw new TypeError(
        "this session key cannot be read; sign in with saveable: true to save it",
      );
    }
    return { ...this.atRest(), sessionKey: { kind, publicKey, secret } };
  }

  /**
   * The session for IndexedDB, which keeps the key without anyone being able to read it.
   *
   * @example
   * const stored = session.store();
   * // indexedDB: objectStore.put(stored, "session"), and after a reload:
   * const again = client.restore(stored);
   * console.log(again.sessionKey);
   */
  store(): StoredSession {
    const { kind, publicKey, handle } = this.keys.known;
    if (handle === undefined) throw new TypeError("this session key has no handle; use save()");
    return { ...this.atRest(), sessionKey: { kind, publicKey, handle } };
  }

  private atRest(): Omit<SavedSession, "sessionKey"> {
    const { address, token, expiresAt } = this;
    return { version: 1, address, token, expiresAt, lastNonce: this.nonces.last };
  }

  private readonly carryOrder: OrderCarrier = async ({ body, signature }, attempt, signal) => {
    const { value, headers } = await this.http.sendOnce(
      {
        method: "POST",
        path: "/v1/orders",
        token: this.token,
        body,
        signature,
        answer: PreconfirmAck,
        lane: this.lane("orders"),
        ...(signal === undefined ? {} : { options: { signal } }),
      },
      attempt,
    );
    return { ...value, replayed: headers.get("idempotent-replay") === "true" };
  };

  /** After an earlier try, an order that is canceled is what was asked for. */
  private async settleCancel(orderId: string, error: unknown): Promise<CanceledOrder> {
    const isRepeat =
      error instanceof PerpgateError &&
      error.code === "order_not_cancelable" &&
      error.attempts > 1 &&
      error.details?.status === "canceled";
    if (!isRepeat) throw error;
    const { remainingSize } = await this.order(orderId);
    return { orderId, status: "canceled", remainingSize };
  }

  private post<T extends TSchema>(
    path: string,
    body: string | undefined,
    answer: T,
    limit: string,
    options: CallOptions,
    signature?: string,
  ): Promise<Answer<Static<T>>> {
    return this.http.send({
      method: "POST",
      path,
      token: this.token,
      answer,
      lane: this.lane(limit),
      options,
      ...(body === undefined ? {} : { body }),
      ...(signature === undefined ? {} : { signature }),
    });
  }

  /** The venue counts these by account. */
  private lane(limit: string): string {
    return `${limit} of ${this.address}`;
  }
}
