/**
 * Which sockets speak for which session: whoever signs out, or whose session expires, is cut off
 * everywhere at once; and a session that wants its orders gone with its last socket gets that.
 *
 * The loss of a session's last socket is a command like any other: it is in the log before anything
 * that a later socket asks for. What a lost socket sent last, be it the last one or one before it,
 * may still be on its way there (a signature is being checked, say) and would come behind it; so once
 * all of that is answered, and if then nobody speaks for the session, the log is told again.
 *
 * A crash here loses every socket and tells nobody. The next start does: it takes all sessions with
 * the option for disconnected.
 */

import { ApiError } from "@perpgate/protocol";
import { NO_EVIDENCE, type Venue, VenueStopped } from "@perpgate/venue";
import { tokenHashOf } from "../auth/session-token.js";
import { TokenBuckets } from "../limits/token-buckets.js";
import { CLOSE } from "./close-codes.js";
import type { Connection, ConnectionSession } from "./connection.js";

/**
 * How often, by account, sockets may begin to speak for a session with the option on: each may end
 * in a record of the log, which nobody is to fill by coming and going.
 */
const COMINGS = { name: "sockets", perSecond: 20, burst: 100 };

export class SessionSockets {
  private readonly sockets = new Map<number, Set<Connection>>();
  private readonly comings = new TokenBuckets<number>(COMINGS);
  /** Losses that the log is about to hear of. */
  private readonly underWay = new Set<Promise<void>>();

  constructor(
    private readonly venue: Venue,
    private readonly onFault: (error: unknown) => void,
  ) {}

  /** The session of a token that is alive, or `invalid_token`; `before` is who spoke till now. */
  sessionOf(token: string, before?: ConnectionSession): ConnectionSession {
    const session = this.venue.views.session(tokenHashOf(token));
    if (session === undefined) throw new ApiError("invalid_token", {});
    const { number, account } = session;
    if (session.cancelOnDisconnect && before?.number !== number) this.countComing(account);
    return { token, number, account };
  }

  /** From now on the connection speaks for the session; private streams of another account end. */
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

  /** The connection is gone, or speaks for another session from now on. */
  leave(connection: Connection): void {
    const { session } = connection;
    if (session === undefined) return;
    const sockets = this.sockets.get(session.number);
    if (sockets?.delete(connection) !== true) return;
    if (sockets.size === 0) {
      this.sockets.delete(session.number);
      this.tell(this.disconnected(session.number));
    }
    // Also while others remain: they may be gone before this one's last orders are in the log.
    if (connection.unanswered === 0) return;
    this.tell(connection.answered().then(() => this.disconnected(session.number)));
  }

  /** The session is over. Called during a command, so the sockets are closed right after it. */
  closeSession(session: number): void {
    const sockets = this.sockets.get(session);
    if (sockets === undefined) return;
    setImmediate(() => {
      for (const connection of [...sockets]) connection.close(CLOSE.sessionEnded);
    });
  }

  /** Resolves once every loss so far is durable. */
  async settled(): Promise<void> {
    while (this.underWay.size > 0) await Promise.all(this.underWay);
  }

  /** Resolves once the log knows that nobody is connected for the session, if that concerns it. */
  private async disconnected(session: number): Promise<void> {
    const { venue } = this;
    if (this.sockets.has(session) || !venue.views.cancelsOnDisconnect(session)) return;
    const command = { kind: "SessionDisconnected", stampMs: venue.nowMs(), session } as const;
    await venue.submitted(command, NO_EVIDENCE, () => undefined);
  }

  private tell(loss: Promise<void>): void {
    const told = loss
      .catch((error: unknown) => {
        // A venue that has stopped starts again with everyone disconnected.
        if (!(error instanceof VenueStopped)) this.onFault(error);
      })
      .finally(() => this.underWay.delete(told));
    this.underWay.add(told);
  }

  private countComing(account: number): void {
    const { isAllowed, retryAfterMs } = this.comings.take(account, performance.now());
    if (isAllowed) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
    const details = { limit: COMINGS.name, retryAfterMs: Math.ceil(retryAfterMs) };
    throw new ApiError("rate_limited", { retryAfterSeconds }, { details });
  }
}

function endPrivateStreams(connection: Connection): void {
  for (const [name, subscription] of connection.subscriptions) {
    if (!subscription.isPrivate) continue;
    subscription.end();
    connection.subscriptions.delete(name);
  }
}
