/**
 * Which sockets speak for which session: whoever signs out, or whose session expires, is cut off
 * everywhere at once.
 */

import { Refusal } from "@perpgate/protocol";
import type { Views } from "@perpgate/venue";
import { tokenHashOf } from "../auth/session-token.js";
import { CLOSE } from "./close-codes.js";
import type { Connection, ConnectionSession } from "./connection.js";

export class SessionSockets {
  private readonly sockets = new Map<number, Set<Connection>>();

  constructor(private readonly views: Views) {}

  /** The session of a token that is alive, or `invalid_token`. */
  sessionOf(token: string): ConnectionSession {
    const session = this.views.session(tokenHashOf(token));
    if (session === undefined) throw new Refusal("invalid_token", {});
    return { token, number: session.number, account: session.account };
  }

  /** From now on the connection speaks for the session; private streams of another account end. */
  bind(connection: Connection, session: ConnectionSession): void {
    const before = connection.session;
    if (before?.account !== session.account) endPrivateStreams(connection);
    if (before?.number !== session.number) {
      this.leave(connection);
      const sockets = this.sockets.get(session.number);
      if (sockets === undefined) this.sockets.set(session.number, new Set([connection]));
      else sockets.add(connection);
    }
    connection.session = session;
  }

  /** The connection is gone. */
  leave(connection: Connection): void {
    const { session } = connection;
    if (session === undefined) return;
    const sockets = this.sockets.get(session.number);
    if (sockets?.delete(connection) === true && sockets.size === 0) {
      this.sockets.delete(session.number);
    }
  }

  /** The session is over. Called during a command, so the sockets are closed right after it. */
  closeSession(session: number): void {
    const sockets = this.sockets.get(session);
    if (sockets === undefined) return;
    setImmediate(() => {
      for (const connection of [...sockets]) connection.close(CLOSE.sessionEnded);
    });
  }
}

function endPrivateStreams(connection: Connection): void {
  for (const [name, subscription] of connection.subscriptions) {
    if (!subscription.isPrivate) continue;
    subscription.end();
    connection.subscriptions.delete(name);
  }
}
