/** An operation of the socket: a schema that decodes the message, and a handler. */

import type { Static, TSchema } from "typebox";
import type { GatewayContext } from "../../http/context.js";
import { guardOf, refuseInvalid } from "../../http/guard.js";
import type { SessionSockets } from "../session-sockets.js";
import type { SocketCall } from "../socket-call.js";
import type { SocketLimits } from "../socket-limits.js";
import type { StreamHub } from "../streams/stream-hub.js";

export interface SocketContext {
  readonly gateway: GatewayContext;
  readonly hub: StreamHub;
  readonly sessions: SessionSockets;
  readonly limits: SocketLimits;
}

export interface SocketOperation {
  /** Answers the message now or later; throws an `ApiError` to refuse it. */
  run(message: unknown, call: SocketCall, context: SocketContext): void;
}

export function defineSocketOperation<Schema extends TSchema>(spec: {
  readonly message: Schema;
  /** Returns the fields of the `ok` frame; undefined if it answers through `call`, now or later. */
  handle(message: Static<Schema>, call: SocketCall, context: SocketContext): object | undefined;
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
