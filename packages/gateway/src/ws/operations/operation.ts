/**
 * An operation of the socket: one message, one file. Its schema decodes the message; its handler
 * answers with the fields of the `ok` frame, refuses by throwing, or answers by itself, then or
 * later, and returns nothing.
 */

import type { Static, TSchema } from "typebox";
import type { GatewayContext } from "../../http/context.js";
import { guardOf, refuseInvalid } from "../../http/guard.js";
import type { SessionSockets } from "../session-sockets.js";
import type { SocketCall } from "../socket-call.js";
import type { SocketLimits } from "../socket-limits.js";
import type { StreamHub } from "../streams/stream-hub.js";

/** What operations may use besides the message. */
export interface SocketContext {
  readonly gateway: GatewayContext;
  readonly hub: StreamHub;
  readonly sessions: SessionSockets;
  readonly limits: SocketLimits;
}

type Answer = object | undefined;

export interface SocketOperation {
  /** Answers the message, now or later, or throws what refuses it. */
  run(message: unknown, call: SocketCall, context: SocketContext): void;
}

export function defineSocketOperation<Schema extends TSchema>(spec: {
  readonly message: Schema;
  /** Answers with the fields of the `ok` frame, or by itself and with nothing. */
  handle(message: Static<Schema>, call: SocketCall, context: SocketContext): Answer;
}): SocketOperation {
  const isMessage = guardOf(spec.message);
  return {
    run: (message, call, context) => {
      if (!isMessage(message)) throw refuseInvalid(isMessage.errors);
      const fields = spec.handle(message, call, context);
      if (fields !== undefined) call.ok(fields);
    },
  };
}
