/**
 * A socket with the requests and the streams that use it. A client has one for public streams and one
 * per session, because a socket is bound to one account.
 */

import { PRIVATE_STREAMS, type ServerFrame } from "@perpgate/protocol";
import { messageOf, socketAuth } from "@perpgate/protocol/operations";
import { type ConnectionError, PerpgateError } from "../errors.js";
import { isGatewayLost } from "../http/failures.js";
import { isRetryable } from "../retry.js";
import { Channels } from "./channels.js";
import {
  copiedFields,
  type Fields,
  type RequestOptions,
  SocketRequests,
  socketError,
} from "./requests.js";
import type { Greeting } from "./socket-connection.js";
import {
  type LinkListener,
  type LinkSettings,
  SocketLink,
  type StreamState,
} from "./socket-link.js";

const SESSION_ENDED = 4401;
/** Frames that are about the account, or answer it. */
const POSITIONED_FRAMES: ReadonlySet<string> = new Set(["ok", ...PRIVATE_STREAMS]);

export class StreamSocket {
  readonly channels: Channels;
  /** Whether the server ended it: its session has ended. */
  isRefused = false;
  private readonly link: SocketLink;
  private readonly requests: SocketRequests;

  /** Without a token the socket can read public streams only. */
  constructor(
    private readonly settings: LinkSettings,
    token?: string,
  ) {
    const greeting = token === undefined ? undefined : greetingOf(token);
    this.link = new SocketLink(settings, this.listener(), greeting);
    this.requests = new SocketRequests(this.link);
    this.channels = new Channels(this.link, this.requests);
  }

  get state(): StreamState {
    return this.link.state;
  }

  get gateway(): string | undefined {
    return this.link.gateway;
  }

  get silentMs(): number | undefined {
    return this.link.silentMs;
  }

  get ageMs(): number | undefined {
    return this.link.ageMs;
  }

  /** Connects if it is idle. */
  open(): void {
    this.link.open();
  }

  connectNow(): void {
    this.link.connectNow();
  }

  onState(callback: (state: StreamState) => void): () => void {
    return this.link.onState(callback);
  }

  async request(message: object, options: RequestOptions): Promise<Fields> {
    try {
      return await this.requests.request(message, options);
    } catch (error) {
      // The link reconnects a lost connection.
      if (error instanceof PerpgateError && isGatewayLost(error)) this.link.leaveGateway();
      throw error;
    }
  }

  /** Binds the socket to another session of the same account; its streams go on. */
  async rebind(token: string, options: RequestOptions): Promise<void> {
    this.link.greetWith(greetingOf(token));
    // Without a connection the next one begins with the new token.
    if (this.link.state !== "open") return;
    const { connection } = this.link;
    try {
      await this.requests.request(messageOf(socketAuth, { token }), options);
    } catch {
      // Which session the server has bound is unknown; the next connection begins with the new token, as
      // one has that replaced this one meanwhile.
      this.link.reconnect("not bound to the renewed session", connection);
    }
  }

  close(): void {
    this.link.close();
  }

  private listener(): LinkListener {
    return {
      onOpen: () => {
        this.requests.onOpen();
        this.channels.onOpen();
      },
      onFrame: (frame) => this.onFrame(frame),
      onMove: () => this.requests.onMove(),
      onDown: (error: ConnectionError) => {
        this.requests.onDown(error);
        this.channels.onDown();
      },
      finalError: (code) => (code === SESSION_ENDED ? sessionEnded() : undefined),
      onEnd: (error) => {
        this.isRefused = error instanceof PerpgateError;
        this.requests.onEnd(error);
        this.channels.onEnd(error);
      },
    };
  }

  private onFrame(frame: ServerFrame): void {
    if (frame.t === "pong") return;
    if (this.settings.gateways.areSeveral) this.notePosition(frame);
    if (frame.t !== "ok" && frame.t !== "error") {
      this.channels.onFrame(frame);
      return;
    }
    const { id } = copiedFields(frame.d);
    if (frame.t === "error" && id === undefined) {
      this.onUnparsedMessage(socketError(copiedFields(frame.d)));
    } else if (!this.requests.onAnswer(frame)) {
      this.channels.onAnswer(frame);
    }
  }

  /** So that a read at another gateway shows what this socket has shown. */
  private notePosition({ t, d }: ServerFrame): void {
    if (!POSITIONED_FRAMES.has(t)) return;
    const { seq, ack, batch } = copiedFields(d);
    const { results } = copiedFields(batch);
    const acks = Array.isArray(results) ? results.map((result) => copiedFields(result).ack) : [ack];
    const { gateways } = this.settings;
    if (typeof seq === "number") gateways.notePosition(seq);
    for (const one of acks) gateways.notePosition(Number(copiedFields(one).ackNonce));
  }

  /** A message above the rate limit is not parsed, so its error has no id; the request times out. */
  private onUnparsedMessage(error: PerpgateError): void {
    if (error.code === "rate_limited") this.link.slowDown(error.retryAfterMs ?? 1_000);
  }
}

/** The token is sent first, because later messages need it. */
function greetingOf(token: string): Greeting {
  return {
    text: JSON.stringify(messageOf(socketAuth, { token })),
    token,
    check: ({ t, d }) => {
      if (t === "ok") return "accepted";
      const error = socketError(copiedFields(d));
      return isRetryable(error) ? "later" : error;
    },
  };
}

function sessionEnded(): PerpgateError {
  const message = "The session has ended or expired; sign in again.";
  return new PerpgateError({ code: "invalid_token", message, requestId: "" }, { status: 401 });
}
