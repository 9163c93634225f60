/**
 * Subscribing and unsubscribing; each stream of a message is checked separately.
 *
 * `subscribe` sends, in this order: one `error` per refused stream; one `error` for an invalid token
 * unless a private stream was refused for it; one `ok` with the accepted streams and the seq they start
 * from; their first frames. A stream that the socket already reads restarts: a client that lost frames
 * gets a new snapshot this way. A private stream begins after the seq of the `ok`, or with a state that is
 * as new. A gateway that is behind `since` waits for it; one that has applied all
 * that was answered before, and does not have it, reports a gap.
 */

import type { StreamName } from "@perpgate/protocol";
import { ApiError, isPrivateStream, parseStreamName, STREAM_FORMS } from "@perpgate/protocol/core";
import { type MessageOf, socketSubscribe, socketUnsubscribe } from "@perpgate/protocol/operations";
import { BearerToken } from "../../auth/session-token.js";
import { isApplied, lagging, waitFor } from "../../http/log-position.js";
import { COST } from "../../limits/costs.js";
import type { ClientSocket } from "../connection.js";
import type { SocketCall } from "../socket-call.js";
import { handleMessage, type SocketContext } from "./operation.js";

interface AcceptedStream {
  readonly stream: string;
  readonly name: StreamName;
}

export const subscribe = handleMessage(socketSubscribe, (message, call, context) => {
  const { edge } = context.gateway;
  // Both may be of a log that was set up again, and never come.
  const needed = { seen: 0, named: Math.max(message.since ?? 0, positionOf(message.token)) };
  const token = message.token === undefined ? undefined : new BearerToken(message.token);
  const isKnown = token === undefined || edge?.sessions.isUnknown(token) !== true;
  const isReachedNow = edge?.isReplicated !== true || isApplied(edge, needed);
  if (edge === undefined || (isKnown && isReachedNow)) {
    subscribeNow(message, call, context);
    return undefined;
  }
  // The client was at another gateway, which is ahead of this one, or its token is new here.
  void (isReachedNow ? Promise.resolve(true) : waitFor(edge, needed))
    .then(async (isReached) => {
      if (isReached && token !== undefined && !isKnown) await edge.sessions.learn(token);
      if (!isReached) call.refuse(lagging(edge));
      else if (call.connection.isStopping) call.refuse(new ApiError("stopped", {}));
      else if (call.connection.isOpen) subscribeNow(message, call, context);
    })
    .catch((error: unknown) => call.refuse(error));
  return undefined;
});

function positionOf(token: string | undefined): number {
  return token === undefined ? 0 : new BearerToken(token).session;
}

function subscribeNow(
  message: MessageOf<typeof socketSubscribe>,
  call: SocketCall,
  context: SocketContext,
): void {
  const { connection } = call;
  const badToken = bindToken(message.token, connection, context);
  const accepted: AcceptedStream[] = [];
  let isTokenReported = badToken === undefined;
  const streams = new Set(message.streams);
  connection.charge(COST.subscription * streams.size);
  for (const stream of streams) {
    try {
      const name = check(stream, connection, context, badToken, accepted);
      accepted.push({ stream, name });
    } catch (error) {
      isTokenReported ||= error === badToken;
      call.refuse(error, { stream });
    }
  }
  if (!isTokenReported) call.refuse(badToken);
  if (accepted.length === 0) return;
  const { seq } = context.hub;
  call.ok({ streams: accepted.map(({ stream }) => stream), seq });
  for (const entry of accepted) {
    connection.subscriptions.get(entry.stream)?.end();
    // The first frame of an earlier stream may have closed the socket as too slow.
    if (!connection.isOpen) break;
    try {
      open(entry, connection, context, { ...message, from: seq });
    } catch (error) {
      call.fail(error);
    }
  }
}

export const unsubscribe = handleMessage(socketUnsubscribe, (message, call) => {
  const { subscriptions } = call.connection;
  const streams = [...new Set(message.streams)].filter((stream) => {
    const subscription = subscriptions.get(stream);
    if (subscription === undefined) {
      call.refuse(new ApiError("not_subscribed", { stream }), { stream });
      return false;
    }
    subscription.end();
    subscriptions.delete(stream);
    return true;
  });
  return streams.length === 0 ? undefined : { streams };
});

/** Returns the error of an invalid token: public streams are opened all the same. */
function bindToken(
  token: string | undefined,
  connection: ClientSocket,
  { sessions }: SocketContext,
): unknown {
  if (token === undefined) return undefined;
  connection.charge(COST.token);
  try {
    void sessions.bind(connection, sessions.sessionOf(new BearerToken(token), connection.session));
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Throws the reason why the stream is refused. */
function check(
  stream: string,
  connection: ClientSocket,
  { hub, limits }: SocketContext,
  badToken: unknown,
  accepted: readonly AcceptedStream[],
): StreamName {
  const name = parseStreamName(stream);
  if (name === undefined) throw new ApiError("unknown_stream", { stream, known: STREAM_FORMS });
  if ("symbol" in name && !hub.hasMarket(name.symbol)) {
    throw new ApiError("market_not_found", { symbol: name.symbol });
  }
  if (isPrivateStream(name)) {
    if (badToken !== undefined) throw badToken;
    if (connection.session === undefined) throw new ApiError("token_required", {});
  }
  const { subscriptions } = connection;
  const added = accepted.filter((entry) => !subscriptions.has(entry.stream)).length;
  if (!subscriptions.has(stream) && subscriptions.size + added >= limits.streamsPerSocket) {
    throw new ApiError("too_many_streams", { limit: limits.streamsPerSocket });
  }
  return name;
}

function open(
  { stream, name }: AcceptedStream,
  connection: ClientSocket,
  { hub }: SocketContext,
  { format, since, from }: { format?: "packed" | "plain"; since?: number; from: number },
): void {
  if ("symbol" in name || name.stream === "blocks" || name.stream === "status") {
    const end = hub.openPublic(connection, name, { isPlain: format === "plain" });
    connection.subscriptions.set(stream, { isPrivate: false, end });
    return;
  }
  const { session } = connection;
  if (session === undefined) throw new ApiError("token_required", {});
  connection.charge(COST.privateSnapshot);
  const end = hub.openPrivate(connection, name.stream, session, { since, from });
  connection.subscriptions.set(stream, { isPrivate: true, end });
}
