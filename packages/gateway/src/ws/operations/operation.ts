/**
 * An operation of the socket: one message, one file. Its schema decodes the message; its handler
 * answers with the fields of the `ok` frame, refuses by throwing, or answers by itself and returns
 * nothing.
 */

import type { Static, TSchema } from "typebox";
import type { GatewayContext } from "../../http/context.js";
import { guardOf, refuseInvalid } from "../../http/guard.js";
import type { Connection } from "../connection.js";
import type { SessionSockets } from "../session-sockets.js";
import type { SocketLimits } from "../socket-limits.js";
import type { StreamHub } from "../streams/stream-hub.js";

/** What operations may use besides the message. */
export interface SocketContext {
  readonly gateway: GatewayContext;
  readonly hub: StreamHub;
  readonly sessions: SessionSockets;
  readonly limits: SocketLimits;
}

/** One message under way. */
export interface SocketCall<Message> {
  readonly message: Message;
  readonly connection: Connection;
  readonly requestId: string;
  /** Monotonic milliseconds at which the message was read. */
  readonly receivedAt: number;
  /** Answers in addition to the one that the handler returns. */
  refuse(error: unknown, about: { readonly stream: string }): void;
  /** The `ok` frame, for a handler that has more to send after it. */
  ok(fields: object): void;
}

type Answer = object | undefined;

export interface SocketOperation {
  answer(call: SocketCall<unknown>, context: SocketContext): Promise<Answer>;
}

export function defineSocketOperation<Schema extends TSchema>(spec: {
  readonly message: Schema;
  handle(
    call: SocketCall<Static<Schema>>,
    context: SocketContext,
  ): Answer | undefined | Promise<Answer | undefined>;
}): SocketOperation {
  const isMessage = guardOf(spec.message);
  return {
    answer: async (call, context) => {
      const { message } = call;
      if (!isMessage(message)) throw refuseInvalid(isMessage.errors);
      return spec.handle({ ...call, message }, context);
    },
  };
}
