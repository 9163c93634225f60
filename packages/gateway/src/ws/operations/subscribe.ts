/**
 * Subscribing: each stream of the message is judged alone. Refusals come first, one `error` each, and
 * one for a wrong token unless a private stream was refused for it; then one `ok` with the streams
 * that were taken and the position they start from; then their frames. A stream that the socket holds
 * already begins anew: that is how a client that lost step asks for a fresh snapshot.
 */

import {
  ApiError,
  isPrivateStream,
  parseStreamName,
  type StreamName,
  SubscribeMessage,
} from "@perpgate/protocol";
import { COST } from "../../limits/costs.js";
import type { Connection } from "../connection.js";
import { defineSocketOperation, type SocketContext } from "./operation.js";

interface Wish {
  readonly stream: string;
  readonly name: StreamName;
}

export const subscribe = defineSocketOperation({
  message: SubscribeMessage,
  handle: (message, call, context) => {
    const { connection } = call;
    const badToken = bindToken(message.token, connection, context);
    const wishes: Wish[] = [];
    let isTokenSettled = badToken === undefined;
    const streams = new Set(message.streams);
    connection.charge(COST.subscription * streams.size);
    for (const stream of streams) {
      try {
        const name = judge(stream, connection, context, badToken, wishes);
        wishes.push({ stream, name });
      } catch (error) {
        isTokenSettled ||= error === badToken;
        call.refuse(error, { stream });
      }
    }
    // No private stream was named that would have said it.
    if (!isTokenSettled) call.refuse(badToken);
    if (wishes.length === 0) return undefined;
    call.ok({ streams: wishes.map(({ stream }) => stream), seq: context.hub.position });
    for (const wish of wishes) {
      connection.subscriptions.get(wish.stream)?.end();
      // A frame of an earlier stream may have been one too many for the socket.
      if (!connection.isOpen) break;
      try {
        open(wish, connection, context, message);
      } catch (error) {
        // The `ok` has said that its frames follow.
        call.fail(error);
      }
    }
    return undefined;
  },
});

/** A token that does not open a session keeps no public stream from the client. */
function bindToken(
  token: string | undefined,
  connection: Connection,
  { sessions }: SocketContext,
): unknown {
  if (token === undefined) return undefined;
  try {
    sessions.bind(connection, sessions.sessionOf(token, connection.session));
    return undefined;
  } catch (error) {
    return error;
  }
}

function judge(
  stream: string,
  connection: Connection,
  { hub, limits }: SocketContext,
  badToken: unknown,
  taken: readonly Wish[],
): StreamName {
  const name = parseStreamName(stream);
  if (name === undefined) throw new ApiError("unknown_stream", { stream });
  if ("symbol" in name && !hub.hasMarket(name.symbol)) {
    throw new ApiError("market_not_found", { symbol: name.symbol });
  }
  if (isPrivateStream(name)) {
    if (badToken !== undefined) throw badToken;
    if (connection.session === undefined) throw new ApiError("token_required", {});
  }
  const { subscriptions } = connection;
  const added = taken.filter((wish) => !subscriptions.has(wish.stream)).length;
  if (!subscriptions.has(stream) && subscriptions.size + added >= limits.streamsPerSocket) {
    throw new ApiError("too_many_streams", { limit: limits.streamsPerSocket });
  }
  return name;
}

function open(
  { stream, name }: Wish,
  connection: Connection,
  { hub }: SocketContext,
  { format, since }: { readonly format?: "packed" | "plain"; readonly since?: number },
): void {
  if ("symbol" in name || name.stream === "blocks") {
    const end = hub.openPublic(connection, name, { isPlain: format === "plain" });
    connection.subscriptions.set(stream, { isPrivate: false, end });
    return;
  }
  const { session } = connection;
  if (session === undefined) throw new ApiError("token_required", {});
  connection.charge(COST.privateSnapshot);
  const end = hub.openPrivate(connection, name.stream, session.account, since);
  connection.subscriptions.set(stream, { isPrivate: true, end });
}
