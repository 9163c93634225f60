/**
 * One WebSocket that comes back: opened when first needed, watched for silence, and connected again
 * with backoff whenever it is lost, until it is closed for good.
 *
 * In: texts to send. Out: frames, and what happens to the connection. Nothing is kept over a lost
 * connection; whoever had something under way is told and decides.
 */

import type { ServerFrame } from "@perpgate/protocol";
import { decodeFrame } from "@perpgate/protocol/stream-frame";
import { ConnectionError } from "../errors.js";
import { backoffMs } from "../http/backoff.js";
import { Pacer } from "../http/pacer.js";
import type { WebSocketConstructor, WebSocketLike } from "../platform/platform.js";
import { call } from "./subscription.js";

/**
 * `idle` until first used; `connecting`; `open`; `waiting` to connect again; `closed` for good.
 */
export type StreamState = "idle" | "connecting" | "open" | "waiting" | "closed";

export interface LinkSettings {
  readonly url: string;
  readonly WebSocket: WebSocketConstructor;
  readonly connectTimeoutMs: number;
  /** A connection that was silent for two of these is given up. */
  readonly heartbeatMs: number;
  /** Below what the server takes, which refuses more without saying which message it was. */
  readonly messagesPerSecond: number;
}

/** What is said first on every connection, which is open once that has been answered well. */
export interface Greeting {
  readonly text: string;
  /** Whether the frame is the answer; an error is one that will not change. */
  judge(answer: ServerFrame): "welcome" | "later" | Error;
}

export interface LinkListener {
  onOpen(): void;
  onFrame(frame: ServerFrame): void;
  /** The connection was lost, or could not be made. */
  onDown(error: ConnectionError): void;
  /** A close code after which there is no point in connecting again; undefined where there is. */
  finalError(code: number): Error | undefined;
  /** It will not be opened again. */
  onEnd(error: Error): void;
}

const RECONNECT = { firstMs: 200, longestMs: 10_000 };
const BURST_SECONDS = 1.5;

export class SocketLink {
  private current: StreamState = "idle";
  private socket: WebSocketLike | undefined;
  private outbox: Pacer;
  private failures = 0;
  /** When anything last came, by `performance.now()`. */
  private heardAt = 0;
  private hasHeard = false;
  private isAsked = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private heartbeat: ReturnType<typeof setInterval> | undefined;
  private readonly watchers = new Set<(state: StreamState) => void>();

  constructor(
    private readonly settings: LinkSettings,
    private readonly listener: LinkListener,
    private readonly greeting?: Greeting,
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

  /** Connects, unless it has been asked to before. */
  open(): void {
    if (this.current === "idle") this.connect();
  }

  /**
   * Sends in turn; resolves when it has been handed over, rejects if the connection went first or
   * the signal took it out of the queue.
   */
  async send(text: string, signal?: AbortSignal): Promise<void> {
    const { socket } = this;
    if (socket === undefined || this.current !== "open") throw notSent();
    await this.outbox.run(signal, async () => {
      if (this.socket !== socket) throw notSent();
      socket.send(text);
    });
  }

  /** The server says that messages come too fast. */
  slowDown(ms: number): void {
    this.outbox.holdFor(ms);
  }

  /** Gives the connection up if nothing has come over it since then. */
  suspect(silentSince: number): void {
    if (this.heardAt < silentSince) this.reconnect("the connection is silent");
  }

  /** Gives the connection up and makes another. */
  reconnect(reason: string): void {
    if (this.socket !== undefined) this.lose(this.socket, new ConnectionError(reason));
  }

  /** Ends for good. */
  close(error: Error = new ConnectionError("closed by this side", { outcome: "not_sent" })): void {
    if (this.current === "closed") return;
    const { socket } = this;
    this.letGo();
    this.become("closed");
    socket?.close(1000);
    this.listener.onEnd(error);
  }

  private connect(): void {
    this.become("connecting");
    // A watcher may have closed it.
    if (this.current !== "connecting") return;
    const { WebSocket, url, connectTimeoutMs } = this.settings;
    let socket: WebSocketLike;
    try {
      socket = new WebSocket(url);
    } catch (cause) {
      // A bad address will not get better.
      this.close(new ConnectionError(`cannot connect to ${url}`, { cause, outcome: "not_sent" }));
      return;
    }
    this.socket = socket;
    this.outbox = newOutbox(this.settings.messagesPerSecond);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.greet(socket);
    socket.onmessage = ({ data }: { readonly data: unknown }) => this.received(socket, data);
    // The close event that follows tells all there is.
    socket.onerror = () => undefined;
    socket.onclose = ({ code = 1006 }: { readonly code?: number }) => this.closed(socket, code);
    this.timer = setTimeout(
      () => this.lose(socket, new ConnectionError("the connection was not made in time")),
      connectTimeoutMs,
    );
  }

  private greet(socket: WebSocketLike): void {
    if (socket !== this.socket) return;
    if (this.greeting === undefined) this.opened(socket);
    else socket.send(this.greeting.text);
  }

  private greeted(socket: WebSocketLike, frame: ServerFrame): void {
    const verdict = this.greeting?.judge(frame) ?? "welcome";
    if (verdict === "welcome") this.opened(socket);
    else if (verdict === "later") this.lose(socket, new ConnectionError("not let in for now"));
    else this.close(verdict);
  }

  private opened(socket: WebSocketLike): void {
    clearTimeout(this.timer);
    this.hasHeard = true;
    this.isAsked = false;
    this.heartbeat = setInterval(() => this.beat(socket), this.settings.heartbeatMs);
    this.become("open");
    if (this.current === "open") this.listener.onOpen();
  }

  private received(socket: WebSocketLike, data: unknown): void {
    if (socket !== this.socket) return;
    this.hasHeard = true;
    this.heardAt = performance.now();
    let frame: ServerFrame;
    try {
      frame = decodeFrame(bytesOf(data));
    } catch (cause) {
      this.lose(
        socket,
        new ConnectionError("the server sent something else than frames", { cause }),
      );
      return;
    }
    if (this.current !== "open") {
      this.greeted(socket, frame);
      return;
    }
    // Not before: a server that turns clients away at the door does say something.
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
    this.letGo();
    this.become("waiting");
    closeQuietly(socket);
    this.listener.onDown(error);
    if (this.current !== "waiting") return;
    this.timer = setTimeout(() => this.connect(), backoffMs(this.failures++, RECONNECT));
  }

  private letGo(): void {
    clearTimeout(this.timer);
    clearInterval(this.heartbeat);
    this.socket = undefined;
  }

  /** Asks after a silence, and gives up after a second one. */
  private beat(socket: WebSocketLike): void {
    if (this.hasHeard) {
      this.hasHeard = false;
      this.isAsked = false;
    } else if (this.isAsked) {
      this.lose(socket, new ConnectionError("the connection is dead"));
    } else {
      this.isAsked = true;
      this.send('{"op":"ping"}').catch(() => undefined);
    }
  }

  private become(state: StreamState): void {
    if (this.current === state) return;
    this.current = state;
    for (const watcher of [...this.watchers]) call(() => watcher(state));
  }
}

/** The server counts per connection, so each begins with a full bucket. */
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

/** By its tag: a buffer may come from another realm than this code. */
function isArrayBuffer(data: unknown): data is ArrayBuffer {
  return Object.prototype.toString.call(data) === "[object ArrayBuffer]";
}
