/**
 * A WebSocket that reconnects: opened when first needed, pinged at each heartbeat, opened again with
 * backoff when lost, until it is closed.
 *
 * It follows the gateway in use; if that one refuses the socket, it alone goes to another, or stays where
 * it is. While its connection is alive, it opens and greets the next one first and then moves (`active`
 * is replaced by `candidate`): the session has a socket throughout. Requests in flight are answered on
 * the old connection, which is closed after that.
 *
 * No message is kept across a lost connection; the listener decides what to send again.
 */

import type { ServerFrame } from "@perpgate/protocol";
import { ConnectionError } from "../errors.js";
import { CONNECT_ROUND_TRIPS, type Gateways } from "../http/gateways.js";
import { backoffMs, MOVE_BACKOFF, RECONNECT_BACKOFF } from "../retry.js";
import {
  type ConnectionEnd,
  type ConnectionEvents,
  type ConnectionSettings,
  type Greeting,
  notSent,
  SocketConnection,
} from "./socket-connection.js";
import { callSafely } from "./subscription.js";

/**
 * `idle` until first used; `connecting`; `open`; `waiting` to connect again; `closed` finally.
 */
export type StreamState = "idle" | "connecting" | "open" | "waiting" | "closed";

export interface LinkSettings extends ConnectionSettings {
  readonly gateways: Gateways;
  /** The connection is pinged at each of these intervals, and counts as silent after about three without a message. */
  readonly heartbeatMs: number;
  /** A connection that is silent for this long is dropped. Default: three heartbeats. */
  readonly silenceMs?: number | undefined;
}

/** Which connection is open. */
type OpenConnection = Pick<SocketConnection, "url">;

/** Requests of a connection that the link has left. */
export interface RequestsInFlight {
  /** Resolves once each has an answer or has failed. */
  readonly settled: Promise<unknown>;
  lose(error: ConnectionError): void;
}

export interface LinkListener {
  onOpen(): void;
  onFrame(frame: ServerFrame): void;
  /** Another connection has replaced the open one; `onOpen` follows. */
  onMove(): RequestsInFlight;
  /** The connection was lost or could not be opened. */
  onDown(error: ConnectionError): void;
  /** The error of a close code after which reconnecting is useless. */
  finalError(code: number): Error | undefined;
  /** The link is closed and will not be opened again. */
  onEnd(error: Error): void;
}

/** The heartbeat without a message at which a ping is on its way in any case. */
const PING_BEAT = 2;
/** Close codes about this client, which another gateway would send too. */
const OWN_FAULTS: ReadonlySet<number> = new Set([4408, 4429]);

export class SocketLink {
  private current: StreamState = "idle";
  private active: SocketConnection | undefined;
  private candidate: SocketConnection | undefined;
  private readonly left = new Map<SocketConnection, RequestsInFlight>();
  private failures = 0;
  /** The gateways that are ready and have not accepted this link since its last connection or wait. */
  private readonly refusers = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private heartbeat: ReturnType<typeof setInterval> | undefined;
  private readonly watchers = new Set<(state: StreamState) => void>();
  private readonly stopFollowing: () => void;
  private readonly events: ConnectionEvents = {
    onReady: (connection) => this.ready(connection),
    onFrame: (connection, frame) => this.received(connection, frame),
    onEnd: (connection, end) => this.ended(connection, end),
  };

  constructor(
    private readonly settings: LinkSettings,
    private readonly listener: LinkListener,
    private greeting?: Greeting,
  ) {
    this.stopFollowing = settings.gateways.onChange(() => this.follow());
  }

  get state(): StreamState {
    return this.current;
  }

  /** The open connection. */
  get connection(): OpenConnection | undefined {
    return this.active;
  }

  /** The gateway of the open connection. */
  get gateway(): string | undefined {
    return this.active?.url;
  }

  /** The same; undefined if it is the only gateway. */
  get gatewayOfSeveral(): string | undefined {
    const { gateway } = this;
    return gateway === undefined ? undefined : this.settings.gateways.oneOfSeveral(gateway);
  }

  /** Milliseconds since the last message of the open connection. */
  get silentMs(): number | undefined {
    return this.active === undefined ? undefined : performance.now() - this.active.receivedAt;
  }

  /** At most how old the state is that the open connection has shown. */
  get ageMs(): number | undefined {
    return this.active === undefined ? undefined : performance.now() - this.active.freshAt;
  }

  /** Ends a wait for the next try to connect. */
  connectNow(): void {
    if (this.current !== "waiting") return;
    clearTimeout(this.timer);
    this.failures = 0;
    this.connect();
  }

  onState(callback: (state: StreamState) => void): () => void {
    this.watchers.add(callback);
    return () => this.watchers.delete(callback);
  }

  /** Connects if it is idle. */
  open(): void {
    if (this.current === "idle") this.connect();
  }

  /** From now on connections begin with this one. */
  greetWith(greeting: Greeting): void {
    this.greeting = greeting;
    if (this.candidate === undefined) return;
    this.dropCandidate();
    this.dial();
  }

  async send(text: string, signal?: AbortSignal): Promise<void> {
    if (this.active === undefined) throw notSent();
    await this.active.send(text, signal);
  }

  /** Sends nothing for `ms`: the server reported too many messages. */
  slowDown(ms: number): void {
    this.active?.slowDown(ms);
  }

  /** The gateway of the open connection has said that it cannot serve. Returns whether another can. */
  leaveGateway(): boolean {
    if (this.active === undefined) return false;
    const hasOther = this.settings.gateways.lost(this.active.url);
    // It may not have been the gateway in use, so that nothing has changed.
    this.follow();
    return hasOther;
  }

  /** Drops the connection if nothing was received since then. */
  dropIfSilent(silentSince: number): void {
    if (this.active !== undefined && this.active.receivedAt < silentSince) {
      this.reconnect("the connection is silent");
    }
  }

  /** Drops the connection, unless another has replaced it, and opens another. */
  reconnect(reason: string, connection: OpenConnection | undefined = this.active): void {
    const { active } = this;
    if (active === undefined || active !== connection) return;
    active.end();
    this.ended(active, { error: new ConnectionError(reason) });
  }

  /** Closes the link finally. */
  close(error: Error = new ConnectionError("closed by this side", { outcome: "not_sent" })): void {
    if (this.current === "closed") return;
    const connections = [this.active, this.candidate, ...this.left.keys()];
    this.stopFollowing();
    clearTimeout(this.timer);
    clearInterval(this.heartbeat);
    this.active = undefined;
    this.candidate = undefined;
    this.left.clear();
    this.setState("closed");
    for (const connection of connections) connection?.end(1000);
    this.listener.onEnd(error);
  }

  private connect(url?: string): void {
    this.setState("connecting");
    // A state watcher may have closed it.
    if (this.current !== "connecting") return;
    const choosing = this.settings.gateways.chosen();
    if (choosing === undefined) this.dial(url);
    else void choosing.then(() => this.dial(url));
  }

  /** Opens a connection, to the gateway in use by default. */
  private dial(url = this.settings.gateways.url): void {
    if (this.current === "closed" || this.candidate !== undefined) return;
    try {
      const settings = { ...this.settings, connectTimeoutMs: this.connectTimeoutMs(url) };
      this.candidate = new SocketConnection(url, settings, this.greeting, this.events);
    } catch (cause) {
      // An invalid address: retrying is useless.
      this.close(new ConnectionError(`cannot connect to ${url}`, { cause, outcome: "not_sent" }));
    }
  }

  private dropCandidate(): void {
    this.candidate?.end();
    this.candidate = undefined;
  }

  /** Another gateway is in use. Without a connection, the next one goes there anyway. */
  private follow(): void {
    if (this.active === undefined && this.candidate === undefined) return;
    const { url } = this.settings.gateways;
    if (this.candidate?.url === url) return;
    this.dropCandidate();
    if (this.active?.url !== url) this.dial();
  }

  private ready(connection: SocketConnection): void {
    const { active } = this;
    this.candidate = undefined;
    this.active = connection;
    this.refusers.clear();
    clearInterval(this.heartbeat);
    this.heartbeat = setInterval(() => this.beat(connection), this.settings.heartbeatMs);
    if (active !== undefined) this.leave(active);
    this.setState("open");
    if (this.current === "open") this.listener.onOpen();
  }

  /** A silent connection has no answers to wait for. */
  private leave(connection: SocketConnection): void {
    const inFlight = this.listener.onMove();
    if (connection.silentBeats >= this.silentBeatsOf(connection)) {
      connection.end();
      inFlight.lose(new ConnectionError("the connection is silent"));
      return;
    }
    this.left.set(connection, inFlight);
    void inFlight.settled.then(() => {
      this.left.delete(connection);
      connection.end(1000);
    });
  }

  private received(connection: SocketConnection, frame: ServerFrame): void {
    // Streams go on over the new connection.
    if (connection !== this.active && frame.t !== "ok" && frame.t !== "error") return;
    // Not earlier: a server that rejects the connection may send a frame before it closes.
    this.failures = 0;
    this.listener.onFrame(frame);
  }

  private ended(connection: SocketConnection, { error, code, refusal }: ConnectionEnd): void {
    const inFlight = this.left.get(connection);
    if (inFlight !== undefined) {
      this.left.delete(connection);
      inFlight.lose(error);
      return;
    }
    if (refusal !== undefined) {
      this.greetingRefused(connection, refusal);
      return;
    }
    const final = code === undefined ? undefined : this.listener.finalError(code);
    if (final !== undefined) {
      this.close(final);
      return;
    }
    if (connection === this.candidate) this.candidate = undefined;
    const isDown = connection === this.active || this.active === undefined;
    if (connection === this.active) {
      this.active = undefined;
      clearInterval(this.heartbeat);
    }
    const { gateways } = this.settings;
    const isOwnFault = code !== undefined && OWN_FAULTS.has(code);
    const isRefused = gateways.areSeveral && !connection.isReady && !isOwnFault;
    const hasOther = !isOwnFault && !isRefused && gateways.lost(connection.url);
    if (isDown) {
      this.setState(this.candidate === undefined ? "waiting" : "connecting");
      this.listener.onDown(error);
    }
    if (isRefused) void this.refused(connection.url);
    else this.connectLater(hasOther ? 0 : this.nextBackoffMs());
  }

  /** The session has ended. */
  private greetingRefused(connection: SocketConnection, refusal: Error): void {
    // Another gateway or another greeting is tried already.
    if (this.candidate !== connection) return;
    this.candidate = undefined;
    this.close(refusal);
  }

  private nextBackoffMs(): number {
    const { areSeveral } = this.settings.gateways;
    return backoffMs(this.failures++, areSeveral ? MOVE_BACKOFF : RECONNECT_BACKOFF);
  }

  /**
   * One of several gateways has not accepted a connection. If it is ready, it refuses this socket, for its
   * origin or the number of sockets there: requests stay, and the socket alone tries each of the others
   * before it waits. With a connection to a gateway that is not lost it only waits.
   */
  private async refused(url: string): Promise<void> {
    const { gateways } = this.settings;
    const { refusers } = this;
    if (!(await gateways.isReady(url))) {
      this.connectLater(gateways.lost(url) ? 0 : this.nextBackoffMs());
      return;
    }
    refusers.add(url);
    const isServed = this.active !== undefined && !gateways.isLost(this.active.url);
    const other = isServed ? undefined : gateways.nextBut(refusers);
    if (other !== undefined) {
      this.connectLater(0, other);
      return;
    }
    refusers.clear();
    this.connectLater(backoffMs(this.failures++, RECONNECT_BACKOFF));
  }

  /** Connects again, or, if the open connection is that of another gateway, tries again to move. */
  private connectLater(ms: number, url?: string): void {
    if (this.current === "closed" || this.candidate !== undefined) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.active === undefined) this.connect(url);
      else if (url === undefined) this.follow();
      else this.dial(url);
    }, ms);
  }

  /**
   * Pings. After two silent intervals, or four round trips after the ping, the connection is
   * dropped, or later if `silenceMs` says so; if there is another gateway, it is kept until the socket
   * there is open.
   */
  private beat(connection: SocketConnection): void {
    const { gateways, heartbeatMs, silenceMs = 0 } = this.settings;
    connection.beat();
    void gateways.chosen();
    const silentBeats = this.silentBeatsOf(connection);
    if (connection.silentBeats < silentBeats) return;
    const connectMs = this.connectTimeoutMs(connection.url);
    const lateMs = (silentBeats - PING_BEAT - 1) * heartbeatMs;
    const limitMs = gateways.areSeveral ? connectMs + lateMs : silenceMs;
    if (connection.silentBeats * heartbeatMs > limitMs) this.reconnect("the connection is dead");
    else if (connection.silentBeats === silentBeats) this.leaveGateway();
  }

  /** The heartbeats without a message after which a connection counts as silent. */
  private silentBeatsOf({ url }: SocketConnection): number {
    const { gateways, heartbeatMs } = this.settings;
    return PING_BEAT + Math.ceil(gateways.patienceMs(url, heartbeatMs) / heartbeatMs);
  }

  private connectTimeoutMs(url: string): number {
    const { gateways, connectTimeoutMs } = this.settings;
    return gateways.patienceMs(url, connectTimeoutMs, CONNECT_ROUND_TRIPS);
  }

  private setState(state: StreamState): void {
    if (this.current === state) return;
    this.current = state;
    for (const watcher of [...this.watchers]) callSafely(() => watcher(state));
  }
}
