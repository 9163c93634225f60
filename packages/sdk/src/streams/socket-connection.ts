/**
 * One WebSocket from its opening to its end: the greeting, frames, and how long it has been silent. It
 * is never opened again.
 */

import type { ServerFrame } from "@perpgate/protocol";
import { messageOf, SOCKET_PATH, socketPing } from "@perpgate/protocol/operations";
import { decodeFrame } from "@perpgate/protocol/stream-frame";
import { ConnectionError } from "../errors.js";
import { Pacer } from "../http/pacer.js";
import type { WebSocketConstructor, WebSocketLike } from "../platform/platform.js";

/** The first message of every connection, which counts as open once it is accepted. */
export interface Greeting {
  readonly text: string;
  /** Of the session that it binds the connection to. */
  readonly token: string;
  /** `later` for an error that may pass; any other error closes the link. */
  check(answer: ServerFrame): "accepted" | "later" | Error;
}

export interface ConnectionSettings {
  readonly WebSocket: WebSocketConstructor;
  readonly connectTimeoutMs: number;
  /** Must be below the server's limit: its `rate_limited` error does not name the message. */
  readonly messagesPerSecond: number;
}

/** What becomes of a connection. `onEnd` is called once, and not after `end`. */
export interface ConnectionEvents {
  /** The greeting was accepted. */
  onReady(connection: SocketConnection): void;
  onFrame(connection: SocketConnection, frame: ServerFrame): void;
  /** With the close code if the server closed it; `refusal` if the greeting was refused for good. */
  onEnd(connection: SocketConnection, end: ConnectionEnd): void;
}

export interface ConnectionEnd {
  readonly error: ConnectionError;
  readonly code?: number;
  readonly refusal?: Error;
}

const BURST_SECONDS = 1.5;
/** `readyState` of a socket that the server has begun to close; its close event follows. */
const CLOSING = 2;

export class SocketConnection {
  /** When the last message was received, by `performance.now()`. */
  receivedAt = 0;
  /**
   * When the newest ping that was answered was sent, by `performance.now()`: what the server had sent before
   * it got that ping has arrived.
   */
  freshAt = 0;
  /** Heartbeats in a row without a message. */
  silentBeats = 0;
  /** Whether the greeting was accepted. */
  isReady = false;
  private isOver = false;
  private readonly socket: WebSocketLike;
  private readonly outbox: Pacer;
  private readonly timer: ReturnType<typeof setTimeout>;

  /** Begins to connect. @throws for an invalid address. */
  constructor(
    /** The gateway's address. */
    readonly url: string,
    { WebSocket, connectTimeoutMs, messagesPerSecond }: ConnectionSettings,
    private readonly greeting: Greeting | undefined,
    private readonly events: ConnectionEvents,
  ) {
    this.socket = new WebSocket(`${url.replace(/^http/, "ws")}${SOCKET_PATH}`);
    this.outbox = newOutbox(messagesPerSecond);
    const { socket } = this;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.greet();
    socket.onmessage = ({ data }: { readonly data: unknown }) => this.received(data);
    // A close event follows.
    socket.onerror = () => undefined;
    socket.onclose = ({ code = 1006 }: { readonly code?: number }) =>
      this.lose({ error: new ConnectionError(`the connection was lost (${code})`), code });
    this.timer = setTimeout(
      () => this.lose({ error: new ConnectionError("the connection was not opened in time") }),
      connectTimeoutMs,
    );
  }

  /**
   * Queues the message. Resolves when it was passed to the socket; rejects if the connection ended
   * before, or if aborted while queued.
   */
  async send(text: string, signal?: AbortSignal): Promise<void> {
    if (this.isOver) throw notSent();
    await this.outbox.run(signal, async () => {
      const { readyState = 0 } = this.socket;
      if (this.isOver || readyState >= CLOSING) throw notSent();
      this.socket.send(text);
    });
  }

  /** Sends nothing for `ms`: the server reported too many messages. */
  slowDown(ms: number): void {
    this.outbox.holdFor(ms);
  }

  /** Counts the heartbeats without a message, which a message resets, and pings. */
  beat(): void {
    this.silentBeats++;
    // The answer names it: one that a server has not answered does not matter.
    const id = String(Math.floor(performance.now()));
    this.send(JSON.stringify(messageOf(socketPing, { id }))).catch(() => undefined);
  }

  /** Closes it; no event follows. */
  end(code?: number): void {
    if (this.isOver) return;
    this.release();
    this.socket.close(code);
  }

  private lose(end: ConnectionEnd): void {
    if (this.isOver) return;
    this.release();
    this.socket.close();
    this.events.onEnd(this, end);
  }

  private release(): void {
    clearTimeout(this.timer);
    this.isOver = true;
    this.socket.onopen = null;
    this.socket.onmessage = null;
    this.socket.onclose = null;
  }

  private greet(): void {
    if (this.greeting === undefined) this.ready();
    else this.socket.send(this.greeting.text);
  }

  private ready(): void {
    clearTimeout(this.timer);
    this.isReady = true;
    this.freshAt = performance.now();
    this.events.onReady(this);
  }

  private received(data: unknown): void {
    this.receivedAt = performance.now();
    this.silentBeats = 0;
    let frame: ServerFrame;
    try {
      frame = decodeFrame(bytesOf(data));
    } catch (cause) {
      const text = "the server sent a message that is not a frame";
      this.lose({ error: new ConnectionError(text, { cause }) });
      return;
    }
    if (frame.t === "pong") this.answered(frame.d);
    if (this.isReady) this.events.onFrame(this, frame);
    else this.greeted(frame);
  }

  private answered(pong: unknown): void {
    const hasId = typeof pong === "object" && pong !== null && "id" in pong;
    const sentAt = hasId ? Number(pong.id) : Number.NaN;
    if (sentAt > this.freshAt && sentAt <= this.receivedAt) this.freshAt = sentAt;
  }

  private greeted(frame: ServerFrame): void {
    const verdict = this.greeting?.check(frame) ?? "accepted";
    if (verdict === "accepted") {
      this.ready();
      return;
    }
    const error = new ConnectionError("not accepted for now");
    this.lose(verdict === "later" ? { error } : { error, refusal: verdict });
  }
}

/** The server counts per connection, so each starts with a full bucket. */
function newOutbox(perSecond: number): Pacer {
  const burst = Math.max(1, Math.floor(BURST_SECONDS * perSecond));
  const outbox = new Pacer(Number.POSITIVE_INFINITY);
  outbox.learn({ name: "messages", burst, perSecond, remaining: burst });
  return outbox;
}

export function notSent(): ConnectionError {
  return new ConnectionError("there is no connection", { outcome: "not_sent" });
}

function bytesOf(data: unknown): Uint8Array {
  if (isArrayBuffer(data)) return new Uint8Array(data);
  throw new TypeError("not a binary message");
}

/** By its tag, because a buffer may come from another realm. */
function isArrayBuffer(data: unknown): data is ArrayBuffer {
  return Object.prototype.toString.call(data) === "[object ArrayBuffer]";
}
