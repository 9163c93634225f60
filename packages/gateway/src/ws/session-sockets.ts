/**
 * The sockets of each session: closes all of them when the session ends, and submits
 * `SessionDisconnected` when a session with cancel-on-disconnect loses its last socket.
 *
 * `SessionDisconnected` is a command: it is in the log before anything that a later socket sends. Orders
 * that a closed socket sent before it closed may still be in flight (for instance in the signature
 * check) and would enter the log after it. So `leave` submits the command a second time, after all calls
 * in flight of the closed socket are answered, unless the session has a socket by then.
 *
 * After a crash there are no sockets and no such commands: the next start treats every session with the
 * option as disconnected.
 */

import { ApiError } from "@perpgate/protocol/core";
import { NO_EVIDENCE, type Venue, VenueStopped } from "@perpgate/venue";
import { type BearerToken, sessionOfToken } from "../auth/session-token.js";
import { rateLimited } from "../limits/limits.js";
import { TokenBuckets } from "../limits/token-buckets.js";
import { CLOSE } from "./close-codes.js";
import type { Connection, ConnectionSession } from "./connection.js";

/**
 * How often sockets may bind to sessions with cancel-on-disconnect, per account: each may cause a record
 * in the log, which a client must not fill by reconnecting.
 */
const BIND_RATE = { name: "sockets", perSecond: 20, burst: 100 };

export class SessionSockets {
  private readonly sockets = new Map<number, Set<Connection>>();
  private readonly binds = new TokenBuckets<number>(BIND_RATE);
  /** `SessionDisconnected` commands that are not durable yet, or wait for calls in flight. */
  private readonly pending = new Set<Promise<void>>();

  constructor(
    private readonly venue: Venue,
    private readonly onFault: (error: unknown) => void,
  ) {}

  /** The live session of the token; throws `invalid_token`. `before`: what the socket is bound to now. */
  sessionOf(token: BearerToken, before?: ConnectionSession): ConnectionSession {
    const session = sessionOfToken(token, (number) => this.venue.views.session(number));
    if (session === undefined) throw new ApiError("invalid_token", {});
    const { number, account } = session;
    if (session.cancelOnDisconnect && before?.number !== number) this.countBind(account);
    return { token, number, account };
  }

  /** Binds the connection to the session; ends private streams of another account. */
  bind(connection: Connection, session: ConnectionSession): void {
    const before = connection.session;
    if (before?.account !== session.account) endPrivateStreams(connection);
    if (before?.number !== session.number) {
      const sockets = this.sockets.get(session.number);
      if (sockets === undefined) this.sockets.set(session.number, new Set([connection]));
      else sockets.add(connection);
      this.leave(connection);
    }
    connection.session = session;
  }

  /** The connection is closed, or about to be bound to another session. */
  leave(connection: Connection): void {
    const { session } = connection;
    if (session === undefined) return;
    const sockets = this.sockets.get(session.number);
    if (sockets?.delete(connection) !== true) return;
    if (sockets.size === 0) {
      this.sockets.delete(session.number);
      this.track(this.submitDisconnected(session.number));
    }
    // Also while other sockets remain: they may close before these calls are in the log.
    if (connection.unanswered === 0) return;
    this.track(connection.answered().then(() => this.submitDisconnected(session.number)));
  }

  /** Closes the sockets of an ended session, in the next turn: it runs inside the apply callback. */
  closeSession(session: number): void {
    const sockets = this.sockets.get(session);
    if (sockets === undefined) return;
    setImmediate(() => {
      for (const connection of [...sockets]) connection.close(CLOSE.sessionEnded);
    });
  }

  /** Resolves once no `SessionDisconnected` is pending. */
  async settled(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending);
  }

  /** No-op if the session has a socket or does not have the option; resolves once durable. */
  private async submitDisconnected(session: number): Promise<void> {
    const { venue } = this;
    if (this.sockets.has(session) || !venue.views.cancelsOnDisconnect(session)) return;
    const command = { kind: "SessionDisconnected", stampMs: venue.nowMs(), session } as const;
    await venue.submitted(command, NO_EVIDENCE, () => undefined);
  }

  private track(submission: Promise<void>): void {
    const settled = submission
      .catch((error: unknown) => {
        // The next start treats every session with the option as disconnected.
        if (!(error instanceof VenueStopped)) this.onFault(error);
      })
      .finally(() => this.pending.delete(settled));
    this.pending.add(settled);
  }

  private countBind(account: number): void {
    const { isAllowed, retryAfterMs } = this.binds.take(account, performance.now());
    if (!isAllowed) throw rateLimited(BIND_RATE.name, retryAfterMs);
  }
}

function endPrivateStreams(connection: Connection): void {
  for (const [name, subscription] of connection.subscriptions) {
    if (!subscription.isPrivate) continue;
    subscription.end();
    connection.subscriptions.delete(name);
  }
}
