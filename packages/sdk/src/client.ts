/**
 * The client of a venue: public reads, streams, sign-in, through one gateway or the nearest of several.
 *
 * It keeps no state of the venue, so clients of one gateway are independent.
 */

import type { SessionKeyKind } from "@perpgate/protocol";
import { KEYS_ARE_SAVEABLE, platformWebSocket } from "#platform";
import { type ConnectionOptions, connect } from "./http/connect.js";
import type { GatewayState } from "./http/gateways.js";
import type { ClientClock } from "./orders/nonces.js";
import type { WebSocketConstructor } from "./platform/platform.js";
import { MarketReader } from "./reads.js";
import { LogReader } from "./receipts/log-reader.js";
import { ReceiptKeeper, type ReceiptOptions } from "./receipts/receipt-keeper.js";
import type { CallOptions } from "./retry.js";
import { restoredKeys, type SavedSession, type StoredSession } from "./saved-session.js";
import { type Renewed, Session } from "./session.js";
import { createSessionKey, type SessionKey } from "./session-key/session-key.js";
import { type SignInFields, signIn } from "./sign-in/sign-in.js";
import type { SignerChoice } from "./sign-in/wallet.js";
import { PublicStream } from "./streams/public-stream.js";
import type { LinkSettings } from "./streams/socket-link.js";
import { StreamSocket } from "./streams/stream-socket.js";
import { callSafely } from "./streams/subscription.js";

export interface ClientOptions extends ConnectionOptions, ReceiptOptions {
  /** Default: the platform's WebSocket; in Node the package `ws`. */
  readonly WebSocket?: WebSocketConstructor;
  /** Messages per second on a socket. Default: 180, just below the gateway's default of 200. */
  readonly messagesPerSecond?: number;
  /**
   * Milliseconds between two pings of a socket. Default: 10,000; with several gateways 400, so that a dead
   * one is left within about a second.
   */
  readonly heartbeatMs?: number;
  /**
   * Milliseconds of silence after which the only gateway's socket is dropped and opened again. Default:
   * three heartbeats.
   */
  readonly silenceMs?: number;
  /**
   * Where times of sign-in messages and the nonces of orders come from. Default: this machine's clock,
   * and random bits. A sandbox gives its own time and a seeded sequence.
   */
  readonly clock?: ClientClock;
}

export type SignInOptions = SignerChoice &
  SignInFields & {
    readonly sessionKeyKind?: SessionKeyKind;
    /** Your own key in place of a new one. */
    readonly sessionKey?: SessionKey;
    /** Whether the secret can be read, which `session.save()` needs. Default: true in Node only. */
    readonly saveable?: boolean;
  };

const TIMES = { connectTimeoutMs: 10_000, heartbeatMs: 10_000 };
/** With several gateways, where the next one can be tried. */
const TIMES_OF_SEVERAL = { connectTimeoutMs: 2_500, heartbeatMs: 400 };

/**
 * The client of a venue. With several addresses it uses the nearest gateway, and another within about a
 * second when that one is lost; sessions, nonces and streams go on there.
 *
 * @example
 * const client = new PerpgateClient({ url: "http://127.0.0.1:8080" });
 * const [market] = await client.markets();
 * console.log(market?.symbol, market?.markPrice);
 * client.close();
 */
export class PerpgateClient extends MarketReader {
  private readonly options: ClientOptions;
  private readonly sockets = new Set<StreamSocket>();
  private opened: PublicStream | undefined;
  private isClosed = false;

  constructor(options: ClientOptions) {
    const { http } = connect(options);
    super(http);
    this.options = options;
  }

  /** The address of the gateway in use. */
  get url(): string {
    return this.http.settings.gateways.url;
  }

  /**
   * The addresses that the client was given, with the round trip to each as last measured.
   *
   * @example
   * for (const { url, roundTripMs, isInUse } of client.gateways) console.log(url, roundTripMs, isInUse);
   */
  get gateways(): readonly GatewayState[] {
    return this.http.settings.gateways.states();
  }

  /**
   * Calls back with the address whenever another gateway is used; returns a function that stops it.
   *
   * @example
   * const stop = client.onGateway((url) => console.log(`now through ${url}`));
   * stop();
   */
  onGateway(callback: (url: string) => void): () => void {
    return this.http.settings.gateways.onChange((url) => callSafely(() => callback(url)));
  }

  /**
   * Uses another of the client's addresses, until it is lost or another is clearly nearer. Streams move
   * without a break: the new socket is open before the old one is closed.
   *
   * @throws TypeError if the client was not given this address.
   * @example
   * const other = client.gateways.find(({ isInUse }) => !isInUse);
   * if (other !== undefined) client.useGateway(other.url);
   */
  useGateway(url: string): void {
    this.http.settings.gateways.use(url);
  }

  /**
   * Connects streams now that wait for their next try, for instance because the network is back.
   *
   * @example
   * window.addEventListener("online", () => client.connectNow());
   */
  connectNow(): void {
    for (const socket of [...this.sockets]) socket.connectNow();
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
    const { clock } = this.options;
    const nonce = (call: CallOptions) => this.nonce(call);
    const signInWith = async (key: SessionKey) => ({
      ...(await signIn({ http, nonce, clock }, options, options, key)),
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
    const { key, nextKey } = restoredKeys(saved);
    const { address, token, expiresAt, lastNonce, earlierNonce } = saved;
    return this.sessionOf({ address, token, expiresAt, lastNonce, earlierNonce, key, nextKey });
  }

  /**
   * Closes all streams of this client and of its sessions, which are not renewed any more. Sessions stay
   * valid at the venue.
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
    readonly earlierNonce?: number | undefined;
    readonly key: SessionKey;
    readonly nextKey?: SessionKey | undefined;
    readonly signInAgain?: () => Promise<Renewed>;
  }): Session {
    return new Session({
      ...parts,
      http: this.http,
      clock: this.options.clock,
      receipts: new ReceiptKeeper(
        parts.address,
        () => this.venueKey(),
        this.options,
        () => new LogReader(this.url).successors(),
      ),
      newSocket: (token) => this.newSocket(token),
      isClosed: () => this.isClosed,
    });
  }

  /** What receipts are checked with. */
  private async venueKey() {
    const [honesty, markets] = await Promise.all([this.honesty(), this.markets()]);
    return { ...honesty, markets };
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
    const { gateways } = this.http.settings;
    const { connectTimeoutMs, ...times } = gateways.areSeveral ? TIMES_OF_SEVERAL : TIMES;
    const { messagesPerSecond = 180, heartbeatMs = times.heartbeatMs, silenceMs } = this.options;
    const WebSocket = this.options.WebSocket ?? platformWebSocket();
    if (WebSocket === undefined) {
      throw new TypeError("this platform has no WebSocket; pass one as an option of the client");
    }
    return { gateways, WebSocket, connectTimeoutMs, heartbeatMs, silenceMs, messagesPerSecond };
  }
}
