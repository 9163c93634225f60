/** Messages about the connection and its session: `auth`, `session`, `ping`. */

import { ApiError } from "@perpgate/protocol/core";
import { socketAuth, socketPing, socketSession } from "@perpgate/protocol/operations";
import { BearerToken } from "../../auth/session-token.js";
import { handleMessage } from "./operation.js";

/** Binds the socket to the token's session. */
export const auth = handleMessage(socketAuth, ({ token }, { connection }, { sessions }) => {
  sessions.bind(connection, sessions.sessionOf(new BearerToken(token), connection.session));
  return {};
});

/** Sets the options of the socket's session; answered once they are durable. */
export const session = handleMessage(socketSession, ({ cancelOnDisconnect }, call, { gateway }) => {
  const { session } = call.connection;
  if (session === undefined) throw new ApiError("token_required", {});
  if (gateway.venue === undefined) {
    throw new ApiError("venue_unavailable", { operation: "session" });
  }
  const caller = { bearerToken: session.token, header: call.header };
  const done = gateway.venue.setSessionOptions(caller, { cancelOnDisconnect });
  call.answerWith(done, () => ({ cancelOnDisconnect }));
  return undefined;
});

/** Answered with the gateway's time. */
export const ping = handleMessage(socketPing, ({ id }, { connection }, { gateway }) => {
  const time = gateway.clock();
  connection.answer({ t: "pong", d: id === undefined ? { time } : { id, time } });
  return undefined;
});
