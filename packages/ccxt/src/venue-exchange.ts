/**
 * The connection of the exchange class: the SDK signs in, signs orders, decodes and checks responses, and
 * CCXT sends them, so that `verbose`, proxies, the throttler, time-outs and exceptions are CCXT's.
 */

import {
  ConnectionError,
  type FetchLike,
  PerpgateClient,
  PerpgateError,
  privateKeyAccount,
  type SavedSession,
  type Session,
  type SessionCaps,
} from "@perpgate/sdk";
import { type Dict, Exchange, errors } from "ccxt";
import { DESCRIPTION, LOCAL_URL } from "./describe.js";
import { exceptionOf } from "./exceptions.js";

/** CCXT's own time-out ends a request before this. */
const SDK_TIMEOUT_MS = 600_000;

export class VenueExchange extends Exchange {
  private connected: PerpgateClient | undefined;
  private signedIn: Promise<Session> | undefined;
  /** What `signedIn` resolved with. */
  protected currentSession: Session | undefined;
  private stopRenewals: () => void = () => undefined;
  private bearer: string | undefined;
  /** The answers that `handleErrors` has thrown. */
  private readonly refusals = new WeakMap<Error, { status: number; body: unknown }>();

  override describe(): Dict {
    return this.deepExtend(super.describe(), DESCRIPTION);
  }

  /** The SDK's client of the gateway. */
  protected venueClient(): PerpgateClient {
    this.connected ??= new PerpgateClient({
      url: this.gatewayUrl(),
      fetch: this.send,
      timeoutMs: SDK_TIMEOUT_MS,
      // Retries and limits are CCXT's.
      retries: 0,
      pacing: false,
    });
    return this.connected;
  }

  /** The gateway's address: `urls.api`, or its `public` or `private`; the default if neither is set. */
  private gatewayUrl(): string {
    const { api } = this.urls;
    if (typeof api === "string") return api;
    const { public: first = api.private ?? LOCAL_URL, private: second = first } = api;
    if (first === second) return first;
    throw new errors.NotSupported(`${this.id} takes one gateway for public and private calls`);
  }

  /**
   * Switches to the venue of `urls.test`, or back. What is open at the other venue is closed. CCXT's own
   * version takes the two addresses only if both are texts or both are objects.
   */
  override setSandboxMode(enabled: boolean): void {
    if (enabled === this.isSandboxModeEnabled) return;
    const { api, test, apiBackup, ...others } = this.urls;
    this.urls = enabled
      ? { ...others, test, api: test, apiBackup: api }
      : { ...others, test, api: apiBackup };
    this.isSandboxModeEnabled = enabled;
    // In the constructor of the base class there is nothing to leave yet.
    if (this.connected === undefined) return;
    this.disconnect();
    this.markets = undefined;
    Reflect.set(this, "marketsLoading", undefined);
  }

  /** Closes the sockets of `watch…` and leaves the session, which stays at the venue. */
  protected disconnect(): void {
    this.connected?.close();
    this.connected = undefined;
    this.leaveSession();
  }

  /** A request of the SDK, sent by CCXT. What `handleErrors` throws is an answer to the SDK, too. */
  private readonly send: FetchLike = async (url, { method, headers, body }) => {
    if (this.enableRateLimit) await this.throttle(1);
    this.setLastRestRequestTimestamp();
    this.setLastRequest({ url, headers, body });
    try {
      return responseOf(200, await this.fetch(url, method, headers, body));
    } catch (error) {
      const refusal = error instanceof Error ? this.refusals.get(error) : undefined;
      if (refusal === undefined) throw error;
      return responseOf(refusal.status, refusal.body);
    }
  };

  /** Runs calls of the SDK; its errors become CCXT's. */
  protected async ask<T>(run: (client: PerpgateClient) => Promise<T>): Promise<T> {
    try {
      return await run(this.venueClient());
    } catch (error) {
      throw this.ccxtError(error);
    }
  }

  /** Runs calls that need the account; signs in first if that has not been done. */
  protected async askSession<T>(run: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.session();
    try {
      return await run(session);
    } catch (error) {
      throw this.sessionError(error, session);
    }
  }

  /**
   * A session that was ended by the venue or by another program is left: the next call signs in again.
   * One that may not do something stays, and so does one that has replaced the session of this error.
   */
  protected sessionError(error: unknown, session: Session | undefined): unknown {
    const known = this.ccxtError(error);
    const isEnded =
      known instanceof errors.AuthenticationError && !(known instanceof errors.PermissionDenied);
    const isCurrent = session !== undefined && session === this.currentSession;
    if (isEnded && isCurrent) this.leaveSession();
    return known;
  }

  private leaveSession(): void {
    this.stopRenewals();
    this.signedIn = undefined;
    this.currentSession = undefined;
  }

  protected ccxtError(error: unknown): unknown {
    if (error instanceof ConnectionError) {
      // CCXT's own error, which the SDK wrapped.
      if (error.cause instanceof errors.BaseError) return error.cause;
      return new errors.NetworkError(`${this.id} ${error.message}`);
    }
    // Arguments that the SDK refused before anything was sent.
    if (error instanceof TypeError || error instanceof RangeError) {
      return new errors.BadRequest(`${this.id} ${error.message}`);
    }
    if (!(error instanceof PerpgateError)) return error;
    const { code, status, message } = error;
    return new (exceptionOf(code, status))(`${this.id} ${code}: ${message}`);
  }

  /** The session of this instance. Concurrent calls share one sign-in. */
  protected session(): Promise<Session> {
    if (this.signedIn !== undefined) return this.signedIn;
    // One that ends after the venue was left is not the session of this instance.
    const opening: Promise<Session> = this.openSession().then(
      (session) => {
        if (this.signedIn === opening) this.enterSession(session);
        return session;
      },
      (error: unknown) => {
        if (this.signedIn === opening) this.signedIn = undefined;
        throw error;
      },
    );
    this.signedIn = opening;
    return opening;
  }

  private enterSession(session: Session): void {
    this.currentSession = session;
    // A saved session has no wallet to renew it.
    if (this.options.session === undefined) this.stopRenewals = session.keepRenewed();
  }

  /**
   * `options.session`, saved by the SDK, or a sign-in with the private key, which binds a new session key.
   * The key of the wallet signs nothing else.
   */
  private async openSession(): Promise<Session> {
    const saved: SavedSession | undefined = this.options.session;
    if (saved !== undefined) return this.credential(() => this.venueClient().restore(saved));
    this.checkRequiredCredentials();
    const account = this.credential(() => privateKeyAccount(this.privateKey));
    const caps: SessionCaps | undefined = this.options.sessionCaps;
    const expiresInMs: number | undefined = this.options.sessionExpiresInMs;
    return this.ask((client) =>
      client.signIn({
        account,
        ...(caps === undefined ? {} : { caps }),
        ...(expiresInMs === undefined ? {} : { expiresInMs }),
      }),
    );
  }

  /** A key or a session that is none is a wrong credential, not a wrong request. */
  private credential<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      const { message } = error instanceof Error ? error : new Error(String(error));
      throw new errors.AuthenticationError(`${this.id} ${message}`);
    }
  }

  /** Signs in now; other calls do it when they need to. */
  override async signIn(): Promise<{ address: string; expiresAt: number }> {
    const { address, expiresAt } = await this.session();
    return { address, expiresAt };
  }

  override checkRequiredCredentials(error = true): boolean {
    if (this.options.session !== undefined) return true;
    return super.checkRequiredCredentials(error);
  }

  /** Of implicit methods. */
  override async request(
    path: string,
    api = "public",
    method = "GET",
    params: Dict = {},
    headers?: Dict,
    body?: string,
    config: Dict = {},
  ): Promise<unknown> {
    const send = () => super.request(path, api, method, params, headers, body, config);
    if (api !== "private") return send();
    return this.askSession((session) => {
      this.bearer = session.token;
      return send();
    });
  }

  override sign(path: string, api = "public", method = "GET", params: Dict = {}): Dict {
    const query = this.omit(params, this.extractParams(path));
    const text = Object.keys(query).length === 0 ? "" : `?${this.urlencode(query)}`;
    const url = `${this.gatewayUrl()}/${this.implodeParams(path, params)}${text}`;
    const headers = api === "private" ? { Authorization: `Bearer ${this.bearer}` } : {};
    return { url, method, headers, body: undefined };
  }

  override handleErrors(
    status: number,
    _statusText: string,
    _url: string,
    _method: string,
    _responseHeaders: Dict,
    _text: string,
    body: unknown,
  ): undefined {
    if (status < 400 || typeof body !== "object" || body === null) return undefined;
    const { code, message }: Readonly<Record<string, unknown>> = { ...body };
    if (typeof code !== "string") return undefined;
    const error = new (exceptionOf(code, status))(`${this.id} ${code}: ${message}`);
    this.refusals.set(error, { status, body });
    throw error;
  }

  /** Closes the sockets of `watch…`. Orders and the session stay. */
  override async close(cleanInstanceCache = false): Promise<void> {
    this.disconnect();
    await super.close(cleanInstanceCache);
  }
}

/** CCXT has parsed the body. */
function responseOf(status: number, body: unknown): Awaited<ReturnType<FetchLike>> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers: { get: () => null }, text: async () => text };
}
