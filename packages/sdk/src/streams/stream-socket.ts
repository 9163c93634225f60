/**
 * A connection to `/ws/v1` with all that runs over it: operations that are answered, and streams
 * that are kept. One for everything public of a client, and one for each session, because a socket
 * speaks for one account.
 */

import type { ServerFrame } from "@perpgate/protocol";
import { type ConnectionError, PerpgateError } from "../errors.js";
import { isRetryable } from "../http/retry.js";
import { Channels } from "./channels.js";
import {
  type Fields,
  fieldsOf,
  type RequestOptions,
  SocketRequests,
  socketError,
} from "./requests.js";
import {
  type Greeting,
  type LinkListener,
  type LinkSettings,
  SocketLink,
  type StreamState,
} from "./socket-link.js";

const SESSION_ENDED = 4401;

export class StreamSocket {
  readonly channels: Channels;
  private readonly link: SocketLink;
  private readonly requests: SocketRequests;

  /** Without a token the socket reads public streams alone. */
  constructor(settings: LinkSettings, token?: string) {
    const greeting = token === undefined ? undefined : greetingOf(token);
    this.link = new SocketLink(settings, this.listener(), greeting);
    this.requests = new SocketRequests(this.link);
    this.channels = new Channels(this.link, this.requests);
  }

  get state(): StreamState {
    return this.link.state;
  }

  onState(callback: (state: StreamState) => void): () => void {
    return this.link.onState(callback);
  }

  request(message: object, options: RequestOptions): Promise<Fields> {
    return this.requests.request(message, options);
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
      onDown: (error: ConnectionError) => {
        this.requests.onDown(error);
        this.channels.onDown();
      },
      finalError: (code) => (code === SESSION_ENDED ? sessionEnded() : undefined),
      onEnd: (error) => {
        this.requests.onEnd(error);
        this.channels.onEnd(error);
      },
    };
  }

  private onFrame(frame: ServerFrame): void {
    if (frame.t === "pong") return;
    if (frame.t !== "ok" && frame.t !== "error") {
      this.channels.onFrame(frame);
      return;
    }
    const { id } = fieldsOf(frame.d);
    if (frame.t === "error" && id === undefined) {
      this.onUnreadMessage(socketError(fieldsOf(frame.d)));
    } else if (!this.requests.onAnswer(frame)) {
      this.channels.onAnswer(frame);
    }
  }

  /** A message that came too fast was not even read: which one it was shows when it is overdue. */
  private onUnreadMessage(error: PerpgateError): void {
    if (error.code === "rate_limited") this.link.slowDown(error.retryAfterMs ?? 1_000);
  }
}

/** The token comes first: what follows would be refused for want of it. */
function greetingOf(token: string): Greeting {
  return {
    text: JSON.stringify({ op: "auth", token }),
    judge: ({ t, d }) => {
      if (t === "ok") return "welcome";
      const error = socketError(fieldsOf(d));
      return isRetryable(error) ? "later" : error;
    },
  };
}

function sessionEnded(): PerpgateError {
  const message = "The session has ended or expired; sign in again.";
  return new PerpgateError({ code: "invalid_token", message, requestId: "" }, { status: 401 });
}
