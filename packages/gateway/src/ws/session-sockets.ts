/**
 * The sockets of each session at this edge: closes them when the session ends, and tells the core when a
 * session gets its first socket here and when it has lost the last one. The core writes both to the log,
 * so that cancel-on-disconnect fires when the last socket at any edge is gone.
 *
 * Orders that a closed socket sent before it closed may still be in flight and would enter the log after
 * the end. So they count as a connection: when all calls in flight of the closed socket are answered,
 * `leave` tells the core again. If the link ends, the core counts all sessions of this edge as gone.
 */

import type { CoreAccess } from "@perpgate/link";
import { ApiError } from "@perpgate/protocol/core";
import { TokenBuckets } from "@perpgate/protocol/token-buckets";
import type { EdgeSessions } from "../auth/edge-sessions.js";
import type { BearerToken } from "../auth/session-token.js";
import { COST } from "../limits/costs.js";
import { rateLimited } from "../limits/limits.js";
import { CLOSE } from "./close-codes.js";
import type { ClientSocket, ConnectionSession } from "./connection.js";
import { inPieces } from "./in-pieces.js";

/**
 * How often sockets may bind to sessions, per account: each may cause a record in the log, which a
 * client must not fill by reconnecting.
 */
const BIND_RATE = { name: "sockets", perSecond: 20, burst: 100 };

interface Bound {
  readonly sockets: Set<ClientSocket>;
  /** Resolves once the log has the session as connected here. */
  readonly connected: Promise<void>;
}

export class SessionSockets {
  private readonly bound = new Map<number, Bound>();
  private readonly binds = new TokenBuckets<number>(BIND_RATE);
  /** Requests that are not answered yet, or wait for calls in flight. */
  private readonly pending = new Set<Promise<void>>();

  constructor(
    private readonly link: CoreAccess,
    private readonly sessions: EdgeSessions,
    private readonly onFault: (error: unknown) => void,
  ) {
    sessions.onEnded((session) => this.closeSession(session));
    link.on({ connectionsLost: () => this.closeAll() });
  }

  /** The live session of a token that is not unknown here; throws `invalid_token`. `before`: what the socket is bound to now. */
  sessionOf(token: BearerToken, before?: ConnectionSession): ConnectionSession {
    const { number, account } = this.sessions.known(token);
    if (before?.number !== number) this.countBind(account);
    return { token, number, account };
  }

  /**
   * Binds the connection to the session; ends private streams of another account. Resolves once the
   * log has the session as connected. No-op if the connection is closed: it would never leave.
   */
  bind(connection: ClientSocket, session: ConnectionSession): Promise<void> {
    if (!connection.isOpen) return Promise.resolve();
    const before = connection.session;
    if (before?.account !== session.account) endPrivateStreams(connection);
    const known = this.bound.get(session.number);
    // `SessionConnected`, and the `SessionDisconnected` that ends it.
    if (known === undefined) connection.charge(2 * COST.sessionCommand);
    const bound = known ?? this.connect(session.number);
    if (before?.number !== session.number) {
      bound.sockets.add(connection);
      this.leave(connection);
    }
    connection.session = session;
    connection.noteSession();
    return bound.connected;
  }

  /** The connection is closed, or about to be bound to another session. */
  leave(connection: ClientSocket): void {
    const { session } = connection;
    if (session === undefined) return;
    const { number } = session;
    const sockets = this.bound.get(number)?.sockets;
    if (sockets?.delete(connection) !== true) return;
    if (sockets.size === 0) {
      this.bound.delete(number);
      this.track(this.disconnect(number, false));
    }
    // Also while other sockets remain: they may close before these calls are in the log.
    this.followCalls(connection, number);
  }

  private closeSession(session: number): void {
    const bound = this.bound.get(session);
    if (bound === undefined) return;
    inPieces([...bound.sockets], (connection) => connection.close(CLOSE.sessionEnded));
  }

  /** The log has ended the connections of this edge: closes them; new ones are reported again. */
  private closeAll(): void {
    const connections = [...this.bound].flatMap(([session, bound]) => {
      const unbound = this.unbind(session, bound);
      // The core may have had its first socket from this edge since.
      this.track(this.disconnect(session, false));
      return unbound;
    });
    inPieces(connections, (connection) => connection.close(CLOSE.stopping));
  }

  /**
   * Without their core: its log keeps the connections for a while, for clients to come back. Takes the
   * sessions from all sockets, which are the caller's to close.
   */
  unbindAll(): void {
    for (const [session, bound] of this.bound) this.unbind(session, bound);
  }

  /** Takes the session from sockets that the log does not have: what they still send needs a token. */
  private unbind(session: number, bound: Bound): ClientSocket[] {
    if (this.bound.get(session) === bound) this.bound.delete(session);
    const connections = [...bound.sockets];
    bound.sockets.clear();
    for (const connection of connections) {
      connection.session = undefined;
      this.followCalls(connection, session);
    }
    return connections;
  }

  /** Calls in flight count as a connection of the session. */
  private followCalls(connection: ClientSocket, session: number): void {
    if (connection.unanswered === 0) return;
    this.track(connection.answered().then(() => this.disconnect(session, true)));
  }

  /** Resolves once no request is pending. */
  async settled(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending);
  }

  private connect(session: number): Bound {
    const connected = this.link.request("connectSession", { session }).then(() => undefined);
    const bound = { sockets: new Set<ClientSocket>(), connected };
    this.bound.set(session, bound);
    this.track(
      connected.catch((error: unknown) => {
        // The log does not contain the command: the clients reconnect and it is submitted again.
        const isEnded = error instanceof ApiError && error.code === "invalid_token";
        const reason = isEnded ? CLOSE.sessionEnded : CLOSE.stopping;
        for (const connection of this.unbind(session, bound)) connection.close(reason);
        throw error;
      }),
    );
    return bound;
  }

  private async disconnect(session: number, isAgain: boolean): Promise<void> {
    await this.link.request("disconnectSession", { session, isAgain });
  }

  private track(submission: Promise<void>): void {
    const settled = submission
      .catch((error: unknown) => {
        // The log has the edge's connections as gone, or will.
        if (!(error instanceof ApiError)) this.onFault(error);
      })
      .finally(() => this.pending.delete(settled));
    this.pending.add(settled);
  }

  private countBind(account: number): void {
    const { isAllowed, retryAfterMs } = this.binds.take(account, performance.now());
    if (!isAllowed) throw rateLimited(BIND_RATE.name, retryAfterMs);
  }
}

function endPrivateStreams(connection: ClientSocket): void {
  for (const [name, subscription] of connection.subscriptions) {
    if (!subscription.isPrivate) continue;
    subscription.end();
    connection.subscriptions.delete(name);
  }
}
