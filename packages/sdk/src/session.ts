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
  newSocket(token: string): StreamSocket;
}

export interface RotateOptions extends CallOptions {
  readonly sessionKeyKind?: SessionKeyKind;
  /** The new key; created if left out. */
  readonly sessionKey?: SessionKey;
}

export class Session extends AccountTrader {
  /** Unix milliseconds, by the server's clock. */
  readonly expiresAt: number;
  /** @internal */
  protected readonly orderClient: OrderClient;
  private readonly nonces: Nonces;
  private readonly keys: SessionKeyRing;
  private readonly newSocket: () => StreamSocket;
  private opened: SessionStream | undefined;
  private isEnded = false;

  /** @internal */
  constructor({ http, address, token, expiresAt, key, lastNonce, newSocket }: SessionParts) {
    super(http, { address, token });
    this.expiresAt = expiresAt;
    this.nonces = new Nonces(lastNonce);
    this.keys = new SessionKeyRing(key, async () => (await this.account()).session.sessionKey);
    this.orderClient = new OrderClient(this.nonces, http.settings.rules, () => this.keys.current());
    this.newSocket = () => newSocket(token);
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
      orderPacer: this.http.pacer("orders", this),
      cancelPacer: this.http.pacer("cancels", this),
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
