/** Messages about the connection and its session: `auth`, `session`, `ping`. */

import { ApiError, AuthMessage, PingMessage, SessionMessage } from "@perpgate/protocol";
import { BearerToken } from "../../auth/session-token.js";
import { defineSocketOperation } from "./operation.js";

/** Binds the socket to the token's session. */
export const auth = defineSocketOperation({
  message: AuthMessage,
  handle: ({ token }, { connection }, { sessions }) => {
    sessions.bind(connection, sessions.sessionOf(new BearerToken(token), connection.session));
    return {};
  },
});

/** Sets the options of the socket's session; answered once they are durable. */
export const session = defineSocketOperation({
  message: SessionMessage,
  handle: ({ cancelOnDisconnect }, call, { gateway }) => {
    const { session } = call.connection;
    if (session === undefined) throw new ApiError("token_required", {});
    if (gateway.venue === undefined) {
      throw new ApiError("venue_unavailable", { operation: "session" });
    }
    const caller = { bearerToken: session.token, header: call.header };
    const done = gateway.venue.setSessionOptions(caller, { cancelOnDisconnect });
    call.answerWith(done, () => ({ cancelOnDisconnect }));
    return undefined;
  },
});

/** Answered with the gateway's time. */
export const ping = defineSocketOperation({
  message: PingMessage,
  handle: ({ id }, { connection }, { gateway }) => {
    const time = gateway.clock();
    connection.answer({ t: "pong", d: id === undefined ? { time } : { id, time } });
    return undefined;
  },
});
