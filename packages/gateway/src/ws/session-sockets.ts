/**
 * The sockets of each session: closes all of them when the session ends, and writes to the log when a
 * session gets its first socket here (`SessionConnected`) and loses its last (`SessionDisconnected`).
 * The log's presence counts the sockets of all gateways, so that cancel-on-disconnect fires when the
 * last of them is gone.
 *
 * Both are commands: they are in the log before anything that a later socket sends. Orders that a closed
 * socket sent before it closed may still be in flight (for instance in the signature check) and would
 * enter the log after it. So they count as a connection: when all calls in flight of the closed socket
 * are answered, `leave` writes both commands together, unless the session has a socket by then.
 *
 * After a crash there are no such commands: the log ends the connections of a gateway with its writer.
 */

import { ApiError } from "@perpgate/protocol/core";
import { TokenBuckets } from "@perpgate/protocol/token-buckets";
import { answered, NO_EVIDENCE, type Venue } from "@perpgate/venue";
import { type BearerToken, sessionOfToken } from "../auth/session-token.js";
import { COST } from "../limits/costs.js";
import { rateLimited } from "../limits/limits.js";
import { CLOSE } from "./close-codes.js";
import type { Connection, ConnectionSession } from "./connection.js";
import { inPieces } from "./in-pieces.js";

/**
 * How often sockets may bind to sessions, per account: each may cause a record in the log, which a
 * client must not fill by reconnecting.
 */
const BIND_RATE = { name: "sockets", perSecond: 20, burst: 100 };

const AGAIN_MS = 250;

interface Bound {
  readonly sockets: Set<Connection>;
  /** Resolves once the log has the session as connected here. */
  readonly connected: Promise<void>;
}

/** The end of a session's connections, while the log does not have it. */
interface Ending {
  /** To be written, once more if it is being written. */
  isDue: boolean;
  isAgain: boolean;
  written: Promise<void>;
  /** The writer whose batch with both commands may still be applied, while it is the log's. */
  doubted: string | undefined;
}

export class SessionSockets {
  private readonly bound = new Map<number, Bound>();
  private readonly endings = new Map<number, Ending>();
  private readonly binds = new TokenBuckets<number>(BIND_RATE);
  /** Commands that are not durable yet, or wait for calls in flight. */
  private readonly pending = new Set<Promise<void>>();
  private isStopping = false;

  constructor(
    private readonly venue: Venue,
    private readonly onFault: (error: unknown) => void,
  ) {}

  /** The live session of the token; throws `invalid_token`. `before`: what the socket is bound to now. */
  sessionOf(token: BearerToken, before?: ConnectionSession): ConnectionSession {
    const session = sessionOfToken(token, (number) => this.venue.views.session(number));
    if (session === undefined) throw new ApiError("invalid_token", {});
    const { number, account } = session;
    if (before?.number !== number) this.countBind(account);
    return { token, number, account };
  }

  /**
   * Binds the connection to the session; ends private streams of another account. Resolves once the
   * log has the session as connected. No-op if the connection is closed: it would never leave.
   */
  bind(connection: Connection, session: ConnectionSession): Promise<void> {
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
  leave(connection: Connection): void {
    const { session } = connection;
    if (session === undefined) return;
    const { number } = session;
    const sockets = this.bound.get(number)?.sockets;
    if (sockets?.delete(connection) !== true) return;
    if (sockets.size === 0) {
      this.bound.delete(number);
      this.track(this.disconnect(number));
    }
    // Also while other sockets remain: they may close before these calls are in the log.
    this.followCalls(connection, number);
  }

  /** Closes the sockets of an ended session, in the next turn: it runs inside the apply callback. */
  closeSession(session: number): void {
    const bound = this.bound.get(session);
    if (bound === undefined) return;
    inPieces([...bound.sockets], (connection) => connection.close(CLOSE.sessionEnded));
  }

  /** The log has ended the connections of this gateway: closes them; new ones are reported again. */
  closeAll(): void {
    const connections = [...this.bound].flatMap(([session, bound]) => this.unbind(session, bound));
    inPieces(connections, (connection) => connection.close(CLOSE.stopping));
  }

  /** Takes the session from sockets that the log does not have: what they still send needs a token. */
  private unbind(session: number, bound: Bound): Connection[] {
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
  private followCalls(connection: Connection, session: number): void {
    if (connection.unanswered === 0) return;
    this.track(connection.answered().then(() => this.disconnectAgain(session)));
  }

  /** The gateway stops, and its writer with it: what the log does not take is not submitted again. */
  stop(): void {
    this.isStopping = true;
  }

  /** Resolves once no command is pending. */
  async settled(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending);
  }

  private connect(session: number): Bound {
    const connected = this.submit("SessionConnected", session);
    const bound = { sockets: new Set<Connection>(), connected };
    this.bound.set(session, bound);
    this.track(
      connected.catch((error: unknown) => {
        // The log does not contain the command: the clients reconnect and it is submitted again.
        for (const connection of this.unbind(session, bound)) connection.close(CLOSE.stopping);
        // It may contain it later, when no socket is left whose end would be written.
        const isUnknown = error instanceof ApiError && error.code === "outcome_unknown";
        if (isUnknown) this.track(this.disconnect(session));
        throw error;
      }),
    );
    return bound;
  }

  /**
   * Writes that the session has lost its last socket. `isAgain`: the log has it as disconnected already,
   * and an order has entered it since, so both commands are written. One loop per session writes for
   * all who ask meanwhile.
   */
  private disconnect(session: number, isAgain = false): Promise<void> {
    const known = this.endings.get(session);
    if (known !== undefined) {
      known.isDue = true;
      known.isAgain ||= isAgain;
      // The pair that may be in the log is older than the order that asks now.
      if (isAgain) known.doubted = undefined;
      return known.written;
    }
    const ending: Ending = {
      isDue: true,
      isAgain,
      written: Promise.resolve(),
      doubted: undefined,
    };
    this.endings.set(session, ending);
    ending.written = this.write(session, ending);
    return ending.written;
  }

  /**
   * Until the log has it, or a new connection of the session, which ends with its own sockets: a
   * replicated log that stalls gives commands up, and would otherwise keep the session as connected for
   * as long as this gateway runs. Without a writer a first end needs no command: the log ends the
   * connections of a gateway with its writer, and the next one may join much later.
   */
  private async write(session: number, ending: Ending): Promise<void> {
    try {
      while (ending.isDue) {
        ending.isDue = false;
        const bound = this.bound.get(session);
        if (bound !== undefined) {
          if (!(await isTaken(bound))) ending.isDue = true;
          continue;
        }
        const { isWriting, writer } = this.venue;
        // Both may be in the log in the end: a second connection would cancel what came between.
        const isPair = ending.isAgain && !(isWriting && ending.doubted === writer);
        try {
          if (isPair) void this.submit("SessionConnected", session).catch(() => undefined);
          await this.submit("SessionDisconnected", session);
        } catch (error) {
          const isLate = error instanceof ApiError && error.code !== "stopped";
          const isNeeded = ending.isAgain || this.venue.isWriting;
          if (!isLate || this.isStopping || !isNeeded) throw error;
          if (isPair && error.code === "outcome_unknown") ending.doubted = writer;
          ending.isDue = true;
          await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        }
      }
    } finally {
      this.endings.delete(session);
    }
  }

  /** No-op if the session has a socket here or does not have the option. */
  private async disconnectAgain(session: number): Promise<void> {
    if (!this.venue.views.cancelsOnDisconnect(session)) return;
    await this.disconnect(session, true);
  }

  /** Resolves once durable. */
  private async submit(
    kind: "SessionConnected" | "SessionDisconnected",
    session: number,
  ): Promise<void> {
    const { venue } = this;
    const command = { kind, stampMs: venue.nowMs(), session } as const;
    await answered(venue.submitted(command, NO_EVIDENCE, () => undefined));
  }

  private track(submission: Promise<void>): void {
    const settled = submission
      .catch((error: unknown) => {
        // The log has the gateway's connections as gone, or will.
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

/** Whether the log takes the connection. */
function isTaken({ connected }: Bound): Promise<boolean> {
  return connected.then(
    () => true,
    () => false,
  );
}

function endPrivateStreams(connection: Connection): void {
  for (const [name, subscription] of connection.subscriptions) {
    if (!subscription.isPrivate) continue;
    subscription.end();
    connection.subscriptions.delete(name);
  }
}
