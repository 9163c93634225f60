/**
 * A WebSocket that reconnects: opened when first needed, pinged when silent, opened again with backoff
 * when lost, until it is closed.
 *
 * No message is kept across a lost connection; the listener decides what to send again.
 */

import type { ServerFrame } from "@perpgate/protocol";
import { messageOf, socketPing } from "@perpgate/protocol/operations";
import { decodeFrame } from "@perpgate/protocol/stream-frame";
import { ConnectionError } from "../errors.js";
import { Pacer } from "../http/pacer.js";
import type { WebSocketConstructor, WebSocketLike } from "../platform/platform.js";
import { backoffMs, RECONNECT_BACKOFF } from "../retry.js";
import { callSafely } from "./subscription.js";

/**
 * `idle` until first used; `connecting`; `open`; `waiting` to connect again; `closed` finally.
 */
export type StreamState = "idle" | "connecting" | "open" | "waiting" | "closed";

export interface LinkSettings {
  readonly url: string;
  readonly WebSocket: WebSocketConstructor;
  readonly connectTimeoutMs: number;
  /** A connection that is silent for two of these intervals is dropped. */
  readonly heartbeatMs: number;
  /** Must be below the server's limit: its `rate_limited` error does not name the message. */
  readonly messagesPerSecond: number;
}

/** The first message of every connection, which counts as open once it is accepted. */
export interface Greeting {
  readonly text: string;
  /** `later` for an error that may pass; any other error closes the link. */
  check(answer: ServerFrame): "accepted" | "later" | Error;
}

export interface LinkListener {
  onOpen(): void;
  onFrame(frame: ServerFrame): void;
  /** The connection was lost or could not be opened. */
  onDown(error: ConnectionError): void;
  /** The error of a close code after which reconnecting is useless. */
  finalError(code: number): Error | undefined;
  /** The link is closed and will not be opened again. */
  onEnd(error: Error): void;
}

const BURST_SECONDS = 1.5;

export class SocketLink {
  private current: StreamState = "idle";
  private socket: WebSocketLike | undefined;
  private outbox: Pacer;
  private failures = 0;
  /** When the last message was received, by `performance.now()`. */
  private receivedAt = 0;
  private hasReceived = false;
  private isPinged = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private heartbeat: ReturnType<typeof setInterval> | undefined;
  private readonly watchers = new Set<(state: StreamState) => void>();

  constructor(
    private readonly settings: LinkSettings,
    private readonly listener: LinkListener,
    /** Sent first on every connection; may be replaced. */
    public greeting?: Greeting,
  ) {
    this.outbox = newOutbox(settings.messagesPerSecond);
  }

  get state(): StreamState {
    return this.current;
  }

  onState(callback: (state: StreamState) => void): () => void {
    this.watchers.add(callback);
    return () => this.watchers.delete(callback);
  }

  /** Connects if it is idle. */
  open(): void {
    if (this.current === "idle") this.connect();
  }

  /**
   * Queues the message. Resolves when it was passed to the socket; rejects if the connection was
   * lost before, or if aborted while queued.
   */
  async send(text: string, signal?: AbortSignal): Promise<void> {
    const { socket } = this;
    if (socket === undefined || this.current !== "open") throw notSent();
    await this.outbox.run(signal, async () => {
      if (this.socket !== socket) throw notSent();
      socket.send(text);
    });
  }

  /** Sends nothing for `ms`: the server reported too many messages. */
  slowDown(ms: number): void {
    this.outbox.holdFor(ms);
  }

  /** Drops the connection if nothing was received since then. */
  dropIfSilent(silentSince: number): void {
    if (this.receivedAt < silentSince) this.reconnect("the connection is silent");
  }

  /** Drops the connection and opens another. */
  reconnect(reason: string): void {
    if (this.socket !== undefined) this.lose(this.socket, new ConnectionError(reason));
  }

  /** Closes the link finally. */
  close(error: Error = new ConnectionError("closed by this side", { outcome: "not_sent" })): void {
    if (this.current === "closed") return;
    const { socket } = this;
    this.release();
    this.setState("closed");
    socket?.close(1000);
    this.listener.onEnd(error);
  }

  private connect(): void {
    this.setState("connecting");
    // A state watcher may have closed it.
    if (this.current !== "connecting") return;
    const { WebSocket, url, connectTimeoutMs } = this.settings;
    let socket: WebSocketLike;
    try {
      socket = new WebSocket(url);
    } catch (cause) {
      // An invalid address: retrying is useless.
      this.close(new ConnectionError(`cannot connect to ${url}`, { cause, outcome: "not_sent" }));
      return;
    }
    this.socket = socket;
    this.outbox = newOutbox(this.settings.messagesPerSecond);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.greet(socket);
    socket.onmessage = ({ data }: { readonly data: unknown }) => this.received(socket, data);
    // A close event follows.
    socket.onerror = () => undefined;
    socket.onclose = ({ code = 1006 }: { readonly code?: number }) => this.closed(socket, code);
    this.timer = setTimeout(
      () => this.lose(socket, new ConnectionError("the connection was not opened in time")),
      connectTimeoutMs,
    );
  }

  private greet(socket: WebSocketLike): void {
    if (socket !== this.socket) return;
    if (this.greeting === undefined) this.opened(socket);
    else socket.send(this.greeting.text);
  }

  private greeted(socket: WebSocketLike, frame: ServerFrame): void {
    const verdict = this.greeting?.check(frame) ?? "accepted";
    if (verdict === "accepted") this.opened(socket);
    else if (verdict === "later") this.lose(socket, new ConnectionError("not accepted for now"));
    else this.close(verdict);
  }

  private opened(socket: WebSocketLike): void {
    clearTimeout(this.timer);
    this.hasReceived = true;
    this.isPinged = false;
    this.heartbeat = setInterval(() => this.beat(socket), this.settings.heartbeatMs);
    this.setState("open");
    if (this.current === "open") this.listener.onOpen();
  }

  private received(socket: WebSocketLike, data: unknown): void {
    if (socket !== this.socket) return;
    this.hasReceived = true;
    this.receivedAt = performance.now();
    let frame: ServerFrame;
    try {
      frame = decodeFrame(bytesOf(data));
    } catch (cause) {
      this.lose(
        socket,
        new ConnectionError("the server sent a message that is not a frame", { cause }),
      );
      return;
    }
    if (this.current !== "open") {
      this.greeted(socket, frame);
      return;
    }
    // Not earlier: a server that rejects the connection may send a frame before it closes.
    this.failures = 0;
    this.listener.onFrame(frame);
  }

  private closed(socket: WebSocketLike, code: number): void {
    if (socket !== this.socket) return;
    const error = this.listener.finalError(code);
    if (error !== undefined) this.close(error);
    else this.lose(socket, new ConnectionError(`the connection was lost (${code})`));
  }

  private lose(socket: WebSocketLike, error: ConnectionError): void {
    if (socket !== this.socket) return;
    this.release();
    this.setState("waiting");
    closeQuietly(socket);
    this.listener.onDown(error);
    if (this.current !== "waiting") return;
    this.timer = setTimeout(() => this.connect(), backoffMs(this.failures++, RECONNECT_BACKOFF));
  }

  private release(): void {
    clearTimeout(this.timer);
    clearInterval(this.heartbeat);
    this.socket = undefined;
  }

  /** Pings after one silent interval, drops the connection after two. */
  private beat(socket: WebSocketLike): void {
    if (this.hasReceived) {
      this.hasReceived = false;
      this.isPinged = false;
    } else if (this.isPinged) {
      this.lose(socket, new ConnectionError("the connection is dead"));
    } else {
      this.isPinged = true;
      this.send(JSON.stringify(messageOf(socketPing, {}))).catch(() => undefined);
    }
  }

  private setState(state: StreamState): void {
    if (this.current === state) return;
    this.current = state;
    for (const watcher of [...this.watchers]) callSafely(() => watcher(state));
  }
}

/** The server counts per connection, so each starts with a full bucket. */
function newOutbox(perSecond: number): Pacer {
  const burst = Math.max(1, Math.floor(BURST_SECONDS * perSecond));
  const outbox = new Pacer(Number.POSITIVE_INFINITY);
  outbox.learn({ name: "messages", burst, perSecond, remaining: burst });
  return outbox;
}

function notSent(): ConnectionError {
  return new ConnectionError("there is no connection", { outcome: "not_sent" });
}

function closeQuietly(socket: WebSocketLike): void {
  socket.onopen = null;
  socket.onmessage = null;
  socket.onclose = null;
  socket.close();
}

function bytesOf(data: unknown): Uint8Array {
  if (isArrayBuffer(data)) return new Uint8Array(data);
  throw new TypeError("not a binary message");
}

/** By its tag, because a buffer may come from another realm. */
function isArrayBuffer(data: unknown): data is ArrayBuffer {
  return Object.prototype.toString.call(data) === "[object ArrayBuffer]";
}
