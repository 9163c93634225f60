/** Messages about the connection and its session: `auth`, `session`, `ping`. */

import { ApiError } from "@perpgate/protocol/core";
import { socketAuth, socketPing, socketSession } from "@perpgate/protocol/operations";
import { BearerToken } from "../../auth/session-token.js";
import type { Edge } from "../../edge.js";
import { lagging } from "../../http/log-position.js";
import { chargeOperation } from "../../limits/charge-operation.js";
import { COST } from "../../limits/costs.js";
import { edgeOf } from "../../operations/handler.js";
import { handleMessage } from "./operation.js";

/** Not refused for the debt of the account, like the REST operations that count as cancels. */
const SESSION_CHARGE = { costMicros: COST.sessionCommand, limit: "cancels" } as const;

/** Binds the socket to the token's session; answered once the log has the session as connected. */
export const auth = handleMessage(socketAuth, ({ token: text }, call, { sessions, gateway }) => {
  const { connection } = call;
  connection.charge(COST.token);
  const token = new BearerToken(text);
  const bind = () => sessions.bind(connection, sessions.sessionOf(token, connection.session));
  const { edge } = gateway;
  if (edge?.sessions.isUnknown(token) === true) {
    call.answerWith(learn(edge, token).then(bind), () => ({}));
  } else {
    call.answerWith(bind(), () => ({}));
  }
  return undefined;
});

/** The session may have been opened at another gateway, which is ahead of this one, or be of another log. */
async function learn(edge: Edge, token: BearerToken): Promise<void> {
  const { session } = token;
  const isAhead = edge.isReplicated && session > edge.position;
  if (isAhead && !(await edge.reachedIfAnswered(session))) throw lagging(edge);
  await edge.sessions.learn(token);
}

/** Sets the options of the socket's session; answered once they are durable. */
export const session = handleMessage(socketSession, ({ cancelOnDisconnect }, call, { gateway }) => {
  const { session } = call.connection;
  if (session === undefined) throw new ApiError("token_required", {});
  const { link } = edgeOf(gateway, "session");
  chargeOperation(gateway.budgets, call, SESSION_CHARGE, session.account, call.header);
  const options = { session: session.number, cancelOnDisconnect };
  const done = link.request("setSessionOptions", options);
  call.answerWith(done, () => ({ cancelOnDisconnect }));
  return undefined;
});

/** Answered with the gateway's time. */
export const ping = handleMessage(socketPing, ({ id }, call, { gateway }) => {
  const time = gateway.clock();
  call.noteAnswer(200);
  call.connection.answer({ t: "pong", d: id === undefined ? { time } : { id, time } });
  return undefined;
});
