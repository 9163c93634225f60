/**
 * A session: one sign-in, its token and its key. Trading and reading are inherited; this class has the
 * stream, key rotation, sign-out and saving.
 */

import type { SessionKeyKind } from "@perpgate/protocol";
import { endSessionText } from "@perpgate/protocol/core";
import {
  endOtherSessions,
  endSession,
  endSessionById,
  rotateSession,
} from "@perpgate/protocol/operations";
import { AccountTrader } from "./account-trader.js";
import { PerpgateError } from "./errors.js";
import type { HttpClient } from "./http/http-client.js";
import { Nonces } from "./orders/nonces.js";
import { OrderClient } from "./orders/order-client.js";
import type { ReceiptKeeper } from "./receipts/receipt-keeper.js";
import type { CallOptions } from "./retry.js";
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
  readonly receipts: ReceiptKeeper;
  newSocket(token: string): StreamSocket;
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
  /** Milliseconds before the session's end. Default: a tenth of its life. */
  readonly beforeMs?: number;
  /** Called when a renewal fails; it is tried again after a minute while the session lives. */
  readonly onError?: (error: unknown) => void;
}

const RENEW_PART = 0.1;
const RENEW_AGAIN_MS = 60_000;
/** Longer delays overflow a timer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

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
  private renewTimer: ReturnType<typeof setTimeout> | undefined;
  private opened: SessionStream | undefined;
  private isEnded = false;

  /** @internal */
  constructor(parts: SessionParts) {
    const { http, address, token, expiresAt, key, lastNonce, newSocket, signInAgain } = parts;
    super(http, { address, token });
    this.endsAt = expiresAt;
    this.signInAgain = signInAgain?.bind(parts);
    this.nonces = new Nonces(lastNonce);
    this.keys = this.ringOf(key);
    this.receipts = parts.receipts;
    this.orderClient = new OrderClient(
      this.nonces,
      http.settings.rules,
      () => this.keys.current(),
      (body, answer) => this.receipts.take(body, answer),
    );
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
      orderPacer: () => this.http.pacer("orders", this),
      cancelPacer: () => this.http.pacer("cancels", this),
      settleCancel: (orderId, error) => this.settleCancel(orderId, error),
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
      const signature = await this.orderClient.sign(body);
      await this.keys.replace(next, () =>
        this.call(rotateSession, { signed: { body, signature }, options }),
      );
      return { sessionKey: next.publicKey };
    });
  }

  /**
   * Signs in again with the wallet: another token and key for the same account. Orders in flight end
   * first, nonces rise on, and streams go on over the same connection. Resting orders stay.
   *
   * @example
   * await session.renew();
   * console.log(new Date(session.expiresAt));
   */
  async renew(): Promise<void> {
    if (this.signInAgain === undefined) {
      throw new TypeError("a restored session has no wallet; sign in again");
    }
    const { token, expiresAt, key } = await this.signInAgain();
    await this.orderClient.exclusive(async () => {
      await this.opened?.beforeRebind();
      this.currentToken = token;
      this.endsAt = expiresAt;
      this.keys = this.ringOf(key);
      await this.opened?.rebind(token);
    });
  }

  /**
   * Renews the session through the wallet before it ends, again and again, until it is signed out or
   * `client.close()`. A wallet that asks its user will ask each time.
   *
   * @example
   * session.keepRenewed({ onError: (error) => console.warn(`not renewed: ${error}`) });
   */
  keepRenewed({ beforeMs, onError = () => undefined }: RenewOptions = {}): void {
    if (this.signInAgain === undefined) {
      throw new TypeError("a restored session has no wallet; sign in again");
    }
    const leftMs = this.endsAt - Date.now();
    const renew = async (): Promise<void> => {
      try {
        await this.renew();
        this.keepRenewed({ ...(beforeMs === undefined ? {} : { beforeMs }), onError });
      } catch (error) {
        onError(error);
        if (Date.now() < this.endsAt) this.renewAfter(RENEW_AGAIN_MS, renew);
      }
    };
    this.renewAfter(leftMs - (beforeMs ?? leftMs * RENEW_PART), renew);
  }

  private renewAfter(delayMs: number, renew: () => Promise<void>): void {
    clearTimeout(this.renewTimer);
    if (this.isEnded) return;
    const timer = setTimeout(() => void renew(), Math.min(Math.max(0, delayMs), LONGEST_TIMER_MS));
    // In Node it must not keep a program alive that is done.
    if (typeof timer === "object" && "unref" in timer) timer.unref();
    this.renewTimer = timer;
  }

  private ringOf(key: SessionKey): SessionKeyRing {
    return new SessionKeyRing(key, async () => (await this.account()).session.sessionKey);
  }

  /**
   * Ends the session at the venue and closes its stream. Resting orders stay.
   *
   * @example
   * await session.cancelAll();
   * await session.signOut();
   */
  async signOut(options: CallOptions = {}): Promise<void> {
    try {
      await this.call(endSession, { options });
    } catch (error) {
      // An earlier try ended it, and its response was lost.
      const isEnded = error instanceof PerpgateError && error.code === "invalid_token";
      if (!isEnded || error.attempts === 1) throw error;
    }
    this.isEnded = true;
    clearTimeout(this.renewTimer);
    this.opened?.close();
  }

  /**
   * Ends another session of the account, by the id that `sessions` gives.
   *
   * @example
   * for (const { id, current } of await session.sessions()) {
   *   if (!current) await session.endSession(id);
   * }
   */
  async endSession(id: string, options: CallOptions = {}): Promise<void> {
    const signature = await this.orderClient.sign(endSessionText(id));
    await this.call(endSessionById, { params: { id }, signed: { body: "", signature }, options });
  }

  /**
   * Ends all other sessions of the account; returns their ids.
   *
   * @example
   * console.log(await session.endOtherSessions());
   */
  async endOtherSessions(options: CallOptions = {}): Promise<string[]> {
    const signature = await this.orderClient.sign(endSessionText());
    const { ended } = await this.call(endOtherSessions, {
      signed: { body: "", signature },
      options,
    });
    return ended;
  }

  /**
   * The session as JSON with the secret of its key: keep it like a password. A key that cannot be
   * read, the default in browsers, cannot be saved; see `store`.
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
    return { ...this.savedFields(), sessionKey: { kind, publicKey, secret } };
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
    const { kind, publicKey, handle } = this.keys.known;
    if (handle === undefined) throw new TypeError("this session key has no handle; use save()");
    return { ...this.savedFields(), sessionKey: { kind, publicKey, handle } };
  }

  private savedFields(): Omit<SavedSession, "sessionKey"> {
    const { address, token, expiresAt } = this;
    return { version: 1, address, token, expiresAt, lastNonce: this.nonces.last };
  }
}
