/**
 * The client of one gateway: public reads, streams, sign-in.
 *
 * It keeps no state of the venue, so clients of one gateway are independent.
 */

import type { SessionKeyKind } from "@perpgate/protocol";
import { SOCKET_PATH } from "@perpgate/protocol/operations";
import { KEYS_ARE_SAVEABLE, platformWebSocket } from "#platform";
import { type FetchLike, HttpClient } from "./http/http-client.js";
import { MarketReader } from "./market-reader.js";
import type { WebSocketConstructor } from "./platform/platform.js";
import type { CallOptions } from "./retry.js";
import { restoredKey, type SavedSession, type StoredSession } from "./saved-session.js";
import { type Renewed, Session } from "./session.js";
import { createSessionKey, type SessionKey } from "./session-key/session-key.js";
import { type SignInFields, signIn } from "./sign-in/sign-in.js";
import type { SignerChoice } from "./sign-in/wallet.js";
import { PublicStream } from "./streams/public-stream.js";
import type { LinkSettings } from "./streams/socket-link.js";
import { StreamSocket } from "./streams/stream-socket.js";

export interface ClientOptions {
  /** The gateway's address, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Default: the platform's `fetch`. */
  readonly fetch?: FetchLike;
  /** Default: the platform's WebSocket; in Node the package `ws`. */
  readonly WebSocket?: WebSocketConstructor;
  /** Milliseconds that one try may take. Default: 5,000. */
  readonly timeoutMs?: number;
  /** How often a request is sent again. Default: 5. */
  readonly retries?: number;
  /** Milliseconds after the start of the first try from which no other starts. Default: 30,000. */
  readonly budgetMs?: number;
  /** Whether to stay within the limits that the gateway announces. Default: true. */
  readonly pacing?: boolean;
  /** Messages per second on a socket. Default: 180, just below the gateway's default of 200. */
  readonly messagesPerSecond?: number;
  /** Milliseconds of silence after which a socket is pinged. Default: 10,000. */
  readonly heartbeatMs?: number;
}

export type SignInOptions = SignerChoice &
  SignInFields & {
    readonly sessionKeyKind?: SessionKeyKind;
    /** Your own key in place of a new one. */
    readonly sessionKey?: SessionKey;
    /** Whether the secret can be read, which `session.save()` needs. Default: true in Node only. */
    readonly saveable?: boolean;
  };

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * The client of one gateway.
 *
 * @example
 * const client = new PerpgateClient({ url: "http://127.0.0.1:8080" });
 * const [market] = await client.markets();
 * console.log(market?.symbol, market?.markPrice);
 * client.close();
 */
export class PerpgateClient extends MarketReader {
  /** The gateway's address. */
  readonly url: string;
  private readonly options: ClientOptions;
  private readonly sockets = new Set<StreamSocket>();
  private opened: PublicStream | undefined;
  private isClosed = false;

  constructor(options: ClientOptions) {
    const url = baseUrlOf(options.url);
    const { timeoutMs = 5_000, retries = 5, budgetMs = 30_000, pacing = true } = options;
    for (const [name, value] of Object.entries({ timeoutMs, retries, budgetMs })) {
      if (!(value >= 0)) throw new RangeError(`${name} is a number from 0 on, not ${value}`);
    }
    const fetch = options.fetch ?? ((target, init) => globalThis.fetch(target, init));
    super(new HttpClient({ url, fetch, rules: { timeoutMs, retries, budgetMs }, isPaced: pacing }));
    this.url = url;
    this.options = options;
  }

  /** The public streams; the connection is opened with the first watch. */
  get stream(): PublicStream {
    this.opened ??= new PublicStream(this.newSocket());
    return this.opened;
  }

  /**
   * Signs in with a local account or a wallet. The signature binds a new session key, which signs all
   * orders; the wallet signs only once.
   *
   * @example
   * // In Node, with viem:
   * const session = await client.signIn({ account });
   * console.log(session.address, new Date(session.expiresAt));
   *
   * @example
   * // In a page, with a wallet, and a key with tight caps:
   * const session = await client.signIn({ wallet, caps: { maxOrderNotional: 10_000, symbols: ["BTCUSD"] } });
   * console.log(session.sessionKey);
   */
  async signIn(options: SignInOptions): Promise<Session> {
    const { sessionKeyKind: kind = "ed25519", saveable = KEYS_ARE_SAVEABLE } = options;
    const { http } = this;
    const nonce = (call: CallOptions) => this.nonce(call);
    const signInWith = async (key: SessionKey) => ({
      ...(await signIn({ http, nonce }, options, options, key)),
      key,
    });
    const first = await signInWith(
      options.sessionKey ?? (await createSessionKey({ kind, saveable })),
    );
    const signInAgain = async () => signInWith(await createSessionKey({ kind, saveable }));
    return this.sessionOf({ ...first, signInAgain });
  }

  /**
   * Restores a saved or stored session; sends no request.
   *
   * @example
   * const saved = session.save();
   * const again = client.restore(saved);
   * console.log(await again.openOrders());
   */
  restore(saved: SavedSession | StoredSession): Session {
    const key = restoredKey(saved);
    const { address, token, expiresAt, lastNonce } = saved;
    return this.sessionOf({ address, token, expiresAt, lastNonce, key });
  }

  /**
   * Closes all streams of this client and of its sessions. Sessions stay valid at the venue.
   *
   * @example
   * client.close();
   */
  close(): void {
    this.isClosed = true;
    for (const socket of [...this.sockets]) socket.close();
  }

  private sessionOf(parts: {
    readonly address: string;
    readonly token: string;
    readonly expiresAt: number;
    readonly lastNonce?: number;
    readonly key: SessionKey;
    readonly signInAgain?: () => Promise<Renewed>;
  }): Session {
    return new Session({
      ...parts,
      http: this.http,
      newSocket: (token) => this.newSocket(token),
    });
  }

  private newSocket(token?: string): StreamSocket {
    const socket = new StreamSocket(this.linkSettings(), token);
    this.sockets.add(socket);
    socket.onState((state) => {
      if (state === "closed") this.sockets.delete(socket);
    });
    if (this.isClosed) socket.close();
    return socket;
  }

  private linkSettings(): LinkSettings {
    const { messagesPerSecond = 180, heartbeatMs = 10_000 } = this.options;
    const WebSocket = this.options.WebSocket ?? platformWebSocket();
    if (WebSocket === undefined) {
      throw new TypeError("this platform has no WebSocket; pass one as an option of the client");
    }
    const url = `${this.url.replace(/^http/, "ws")}${SOCKET_PATH}`;
    return { url, WebSocket, connectTimeoutMs: CONNECT_TIMEOUT_MS, heartbeatMs, messagesPerSecond };
  }
}

function baseUrlOf(text: string): string {
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new TypeError(`the gateway's url begins with http:// or https://, not ${url.protocol}`);
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}
