/**
 * A session: one sign-in, its token and its key. Trading and reading are inherited; this class has the
 * stream, key rotation, sign-out and saving.
 */

import type { SessionKeyKind } from "@perpgate/protocol";
import { endSessionText } from "@perpgate/protocol/core";
import {
  amendOrder,
  endOtherSessions,
  endSession,
  endSessionById,
  getAccount,
  placeBatch,
  placeOrder,
  rotateSession,
} from "@perpgate/protocol/operations";
import { AccountTrader } from "./account-trader.js";
import { PerpgateError } from "./errors.js";
import type { HttpClient } from "./http/http-client.js";
import { type ClientClock, Nonces } from "./orders/nonces.js";
import { OrderClient } from "./orders/order-client.js";
import type { ReceiptKeeper } from "./receipts/receipt-keeper.js";
import { type CallOptions, startTimer } from "./retry.js";
import {
  restoredKeys,
  type SavedSession,
  type StoredSession,
  savedKey,
  storedKey,
} from "./saved-session.js";
import { SessionKeyRing } from "./session-key/key-ring.js";
import { createSessionKey, type SessionKey } from "./session-key/session-key.js";
import { SessionStream } from "./streams/session-stream.js";
import type { StreamSocket } from "./streams/stream-socket.js";

interface SessionParts {
  readonly http: HttpClient;
  readonly clock?: ClientClock | undefined;
  readonly address: string;
  readonly token: string;
  readonly expiresAt: number;
  readonly key: SessionKey;
  /** The new key of a rotation whose outcome is unknown. */
  readonly nextKey?: SessionKey | undefined;
  readonly lastNonce?: number;
  readonly earlierNonce?: number | undefined;
  readonly receipts: ReceiptKeeper;
  newSocket(token: string): StreamSocket;
  /** Whether the client was closed. */
  isClosed(): boolean;
  /** Signs in again with the same wallet and terms; missing for a restored session. */
  signInAgain?(): Promise<Renewed>;
}

/** What a renewal gives: the same account, with another token and key. */
export interface Renewed {
  readonly token: string;
  readonly expiresAt: number;
  readonly key: SessionKey;
}

export interface RenewOptions {
  /** Milliseconds before the session's end. Default: a tenth of its life; half of it at most. */
  readonly beforeMs?: number;
  /**
   * Called when a renewal fails. It is tried again after a minute, or after a quarter of what is left of
   * the session if that is less, while the session lives.
   */
  readonly onError?: (error: unknown) => void;
}

const RENEW_PART = 0.1;
const RENEW_AGAIN_MS = 60_000;
const RENEW_AGAIN_PART = 0.25;
/** Between renewals, whatever the clocks say. */
const LEAST_RENEWAL_MS = 1_000;

export interface RotateOptions extends CallOptions {
  readonly sessionKeyKind?: SessionKeyKind;
  /** The new key; created if left out. */
  readonly sessionKey?: SessionKey;
}

export class Session extends AccountTrader {
  /**
   * The receipts of this session's acknowledgements, checked, the last thousand. Each is a file to save
   * and to judge with `judgeReceipt`.
   */
  readonly receipts: ReceiptKeeper;
  /** @internal */
  protected readonly orderClient: OrderClient;
  private readonly nonces: Nonces;
  private keys: SessionKeyRing;
  private endsAt: number;
  private readonly newSocket: () => StreamSocket;
  private readonly signInAgain: (() => Promise<Renewed>) | undefined;
  private readonly isClosed: () => boolean;
  private stopRenewals: () => void = () => undefined;
  private opened: SessionStream | undefined;
  private isEnded = false;

  /** @internal */
  constructor(parts: SessionParts) {
    const { http, address, token, expiresAt, key, newSocket, signInAgain } = parts;
    const { lastNonce, earlierNonce } = parts;
    super(http, { address, token });
    this.endsAt = expiresAt;
    this.signInAgain = signInAgain?.bind(parts);
    this.isClosed = () => parts.isClosed();
    this.nonces = new Nonces(lastNonce, parts.clock);
    this.keys = this.ringOf(key, token, parts.nextKey);
    this.receipts = parts.receipts;
    this.orderClient = new OrderClient(
      this.nonces,
      http.settings.rules,
      () => this.keys,
      (body, answer) => this.receipts.take(body, answer),
    );
    if (earlierNonce !== undefined) this.orderClient.renewed({ lastNonce: earlierNonce });
    this.newSocket = () => newSocket(this.token);
  }

  /** Unix milliseconds, by the server's clock. */
  get expiresAt(): number {
    return this.endsAt;
  }

  /** The public session key, hex. */
  get sessionKey(): string {
    return this.keys.known.publicKey;
  }

  /** The account's streams; the connection is opened with the first watch or order. */
  get stream(): SessionStream {
    this.opened ??= new SessionStream({
      socket: this.newSocket(),
      orderClient: this.orderClient,
      rules: this.http.settings.rules,
      orderPacer: () => this.http.pacer("orders", this, this.opened?.gateway),
      cancelPacer: () => this.http.pacer("cancels", this, this.opened?.gateway),
      settleCancel: (order, error) => this.settleCancel(order, error),
      overRest: {
        order: this.sending(placeOrder),
        amendment: (id) => this.sending(amendOrder, { id }),
        batch: this.sending(placeBatch),
      },
    });
    if (this.isEnded) this.opened.close();
    return this.opened;
  }

  /**
   * Replaces the session key; the token stays. Waits for orders in flight; new orders wait.
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
    return this.orderClient.exclusive(async () => {
      const { kind, secret } = this.keys.known;
      const saveable = secret !== undefined;
      const next =
        sessionKey ?? (await createSessionKey({ kind: sessionKeyKind ?? kind, saveable }));
      const body = JSON.stringify({ newSessionKey: next.publicKey });
      // Nothing is sent if this fails: `next` is no candidate then.
      await this.keys.current();
      await this.keys.replace(next, () =>
        this.orderClient.withSignature(body, (signature) =>
          this.call(rotateSession, { signed: { body, signature }, options }),
        ),
      );
      return { sessionKey: next.publicKey };
    });
  }

  /**
   * Signs in again with the wallet: another token and key for the same account. Orders in flight end
   * first, nonces rise on, and streams go on over the same connection. Resting orders stay. An order of
   * the old session that is repeated with its nonce is sent in that session, while it lives.
   * `cancelOnDisconnect` then covers the new session's orders alone: those of the old one, also an order
   * that such a repetition places, stay when the socket closes. While the socket is not connected, nothing
   * waits for it: the option is set in the new session on the next connection. With several gateways, a
   * renewal while the socket is without its lost gateway leaves the option on in the old session, whose
   * orders the venue then cancels. Where the old session had ended before, its stream had too:
   * `session.stream` is then a new one to watch.
   *
   * @example
   * await session.renew();
   * console.log(new Date(session.expiresAt));
   */
  async renew(): Promise<void> {
    const { token, expiresAt, key } = await this.wallet()();
    try {
      await this.orderClient.exclusive(async () => {
        await this.opened?.beforeRebind();
        this.wallet();
        const { keys, token: oldToken, endsAt } = this;
        const credentials = { token: oldToken, endsAt, keys };
        this.orderClient.renewed({ lastNonce: this.nonces.last, credentials });
        this.currentToken = token;
        this.endsAt = expiresAt;
        this.keys = this.ringOf(key, token);
        await this.rebindStream(token);
      });
    } catch (error) {
      if (this.token !== token) {
        // Nobody would use the new session.
        const session = { address: this.address, token };
        await this.http.call(endSession, { session }).catch(() => undefined);
      }
      throw error;
    }
  }

  /** @throws TypeError if the session cannot be renewed. */
  private wallet(): () => Promise<Renewed> {
    if (this.signInAgain === undefined) {
      throw new TypeError("a restored session has no wallet; sign in again");
    }
    if (this.isEnded) throw new TypeError("the session was signed out; sign in again");
    return this.signInAgain;
  }

  /** A stream that ended with the old session is replaced. */
  private async rebindStream(token: string): Promise<void> {
    const { opened } = this;
    if (opened?.isRefused !== true) return opened?.rebind(token);
    this.opened = undefined;
    if (opened.cancelsOnDisconnect) await this.stream.restoreCancelOnDisconnect();
  }

  /**
   * Renews the session through the wallet before it ends, again and again, until it is signed out or
   * `client.close()`; returns a function that stops it. A wallet that asks its user will ask each time.
   *
   * @example
   * session.keepRenewed({ onError: (error) => console.warn(`not renewed: ${error}`) });
   */
  keepRenewed({ beforeMs, onError = () => undefined }: RenewOptions = {}): () => void {
    this.wallet();
    this.stopRenewals();
    let isStopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const isOver = () => isStopped || this.isEnded || this.isClosed();
    const renewAfter = (delayMs: number): void => {
      if (isOver()) return;
      timer = startTimer(delayMs, () => void renew());
      // In Node it must not keep a program alive that is done.
      if (typeof timer === "object" && "unref" in timer) timer.unref();
    };
    const dueMs = (leftMs: number) => leftMs - (beforeMs ?? leftMs * RENEW_PART);
    const renew = async (): Promise<void> => {
      if (isOver()) return;
      try {
        await this.renew();
        const leftMs = this.endsAt - Date.now();
        renewAfter(Math.max(dueMs(leftMs), leftMs / 2, LEAST_RENEWAL_MS));
      } catch (error) {
        if (isOver()) return;
        onError(error);
        const leftMs = this.endsAt - Date.now();
        const againMs = Math.min(RENEW_AGAIN_MS, leftMs * RENEW_AGAIN_PART);
        if (leftMs > 0) renewAfter(Math.max(againMs, LEAST_RENEWAL_MS));
      }
    };
    this.stopRenewals = () => {
      isStopped = true;
      clearTimeout(timer);
    };
    renewAfter(Math.max(0, dueMs(this.endsAt - Date.now())));
    return this.stopRenewals;
  }

  private ringOf(key: SessionKey, token: string, nextKey?: SessionKey): SessionKeyRing {
    const session = { address: this.address, token };
    return new SessionKeyRing(
      key,
      async () => (await this.http.call(getAccount, { session })).session.sessionKey,
      nextKey,
    );
  }

  /**
   * Ends the session at the venue and closes its stream. Resting orders stay.
   *
   * @example
   * await session.cancelAll();
   * await session.signOut();
   */
  async signOut(options: CallOptions = {}): Promise<void> {
    const { token } = this;
    try {
      await this.call(endSession, { options });
    } catch (error) {
      // An earlier try ended it, and its response was lost.
      const isEnded = error instanceof PerpgateError && error.code === "invalid_token";
      if (!isEnded || !error.isDoubtful) throw error;
    }
    // Renewed meanwhile.
    if (this.token !== token) return this.signOut(options);
    this.isEnded = true;
    this.stopRenewals();
    this.opened?.close();
  }

  /**
   * Ends another session of the account, by the id that `sessions` gives. One that an earlier try of this
   * call ended counts as success; `session_not_found` means that it had ended before the call.
   *
   * @example
   * for (const { id, current } of await session.sessions()) {
   *   if (!current) await session.endSession(id);
   * }
   */
  async endSession(id: string, options: CallOptions = {}): Promise<void> {
    try {
      await this.orderClient.withSignature(endSessionText(id), (signature) => {
        const signed = { body: "", signature };
        return this.call(endSessionById, { params: { id }, signed, options });
      });
    } catch (error) {
      const isEnded = error instanceof PerpgateError && error.code === "session_not_found";
      if (!isEnded || !error.isDoubtful) throw error;
    }
  }

  /**
   * Ends all other sessions of the account; returns their ids. If a response was lost, the list has only
   * the sessions that the last try ended.
   *
   * @example
   * console.log(await session.endOtherSessions());
   */
  async endOtherSessions(options: CallOptions = {}): Promise<string[]> {
    const { ended } = await this.orderClient.withSignature(endSessionText(), (signature) =>
      this.call(endOtherSessions, { signed: { body: "", signature }, options }),
    );
    return ended;
  }

  /**
   * The session as JSON with the secret of its key: keep it like a password. A key that cannot be
   * read, the default in browsers, cannot be saved; see `store`. After a rotation of unknown outcome, until
   * one succeeds, it has both keys, and the restored session asks the venue which one signs.
   *
   * @example
   * const text = JSON.stringify(session.save());
   * const again = client.restore(JSON.parse(text));
   * console.log(again.address);
   */
  save(): SavedSession {
    const { known, candidate } = this.keys;
    const next = candidate === undefined ? {} : { nextSessionKey: savedKey(candidate) };
    return { ...this.savedFields(), sessionKey: savedKey(known), ...next };
  }

  /**
   * A nonce above all before, for a program that notes the nonce of an order before it sends it, so that
   * it can ask for the order after a crash: `session.orders({ status: "all", nonce })`.
   *
   * @example
   * const nonce = session.newNonce();
   * await session.placeOrder({ symbol: "BTCUSD", side: "long", type: "market", margin: 100, leverage: 10, nonce }, { isRepeat: false });
   */
  newNonce(): number {
    return this.nonces.next();
  }

  /**
   * The session for IndexedDB, which stores a key that no script can read.
   *
   * @example
   * const stored = session.store();
   * // indexedDB: objectStore.put(stored, "session"), and after a reload:
   * const again = client.restore(stored);
   * console.log(again.sessionKey);
   */
  store(): StoredSession {
    const { known, candidate } = this.keys;
    const next = candidate === undefined ? {} : { nextSessionKey: storedKey(candidate) };
    return { ...this.savedFields(), sessionKey: storedKey(known), ...next };
  }

  /**
   * Takes the keys of this session as another holder of it has stored them, such as another tab of the
   * browser that rotates the key. Call it before that rotation is sent: then no signature of this holder is
   * refused for it.
   *
   * @throws TypeError if it is another session.
   * @example
   * const stored = session.store();
   * // In another tab, with the same session restored:
   * session.learnKeys(stored);
   */
  learnKeys(saved: SavedSession | StoredSession): void {
    if (saved.token !== this.token) throw new TypeError("this is another session");
    const { key, nextKey } = restoredKeys(saved);
    this.keys.learn(nextKey === undefined ? [key] : [key, nextKey]);
  }

  private savedFields(): Omit<SavedSession, "sessionKey" | "nextSessionKey"> {
    const { address, token, expiresAt } = this;
    const earlierNonce = this.orderClient.lastNonceOfEarlier;
    const earlier = earlierNonce === undefined ? {} : { earlierNonce };
    return { version: 1, address, token, expiresAt, lastNonce: this.nonces.last, ...earlier };
  }
}
