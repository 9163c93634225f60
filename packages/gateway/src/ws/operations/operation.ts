/** A handler of one socket operation of the contract, which decodes the message. */

import type { MessageOf, SocketOperation } from "@perpgate/protocol/operations";
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

export interface SocketHandler {
  readonly operation: SocketOperation;
  /** Answers the message now or later; throws an `ApiError` to refuse it. */
  run(message: unknown, call: SocketCall, context: SocketContext): void;
}

/** `handle` returns the fields of the `ok` frame; undefined if it answers through `call`, now or later. */
export function handleMessage<O extends SocketOperation>(
  operation: O,
  handle: (message: MessageOf<O>, call: SocketCall, context: SocketContext) => object | undefined,
): SocketHandler {
  const isMessage = guardOf<O["message"]>(operation.message);
  return {
    operation,
    run: (message, call, context) => {
      if (!isMessage(message)) throw refuseInvalid(isMessage.errors);
      const fields = handle(message, call, context);
      if (fields !== undefined) call.ok(fields);
    },
  };
}
