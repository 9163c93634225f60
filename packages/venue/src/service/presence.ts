/**
 * Which sessions have sockets, by edge. A command says when a session gets its first socket at an edge of
 * this core (`SessionConnected`) and when it has lost the last one at all of them (`SessionDisconnected`);
 * the log's presence counts those of all cores, so that cancel-on-disconnect fires when the last is gone.
 *
 * Both are commands: they are in the log before anything that a later socket sends. Orders that a closed
 * socket sent before it closed may enter the log after them. So its calls in flight count as a connection:
 * once they are answered the edge asks for the end `isAgain`, and both commands are written together,
 * unless the session has a socket by then. The same holds for the requests in flight of an edge that is
 * gone. Its sessions count as connected there for `GRACE_TICKS` of the log's time, unless another edge has
 * them: their clients connect again.
 *
 * After a crash there are no such commands: the log ends the connections of a core with its writer.
 */

import type { CoreLink, RequestHandlers } from "@perpgate/link";
import { ApiError } from "@perpgate/protocol/core";
import { NO_EVIDENCE } from "../record/record.js";
import type { Venue } from "../venue.js";
import { knownSession } from "./account-calls.js";
import { answered } from "./execution.js";

type Edge = Pick<CoreLink, "notify">;
export type PresenceRequests = Pick<RequestHandlers, "connectSession" | "disconnectSession">;

const AGAIN_MS = 250;
/** As long as the log keeps a core's connections that has sent nothing. */
const GRACE_TICKS = 25;

interface Bound {
  readonly edges: Set<Edge>;
  /** Resolves once the log has the session as connected here. */
  readonly connected: Promise<void>;
}

/** The end of a session's connections, while the log does not have it. */
interface Ending {
  /** To be written, once more if it is being written. */
  isDue: boolean;
  isAgain: boolean;
  /** Those who asked for it; they learn what became of the next attempt. */
  waiting: ((result: Promise<void>) => void)[];
  /** The writer whose batch with both commands may still be applied, while it is the log's. */
  doubted: string | undefined;
}

export class EdgePresence {
  private readonly bound = new Map<number, Bound>();
  /** Edges that are gone, while their sessions count as connected there, and the ticks left. */
  private readonly lost = new Map<Edge, number>();
  private readonly endings = new Map<number, Ending>();
  /** Commands that are not durable yet. */
  private readonly pending = new Set<Promise<void>>();
  private readonly stopObserving: () => void;
  private isStopping = false;

  constructor(
    private readonly venue: Venue,
    private readonly onFault: (error: unknown) => void,
  ) {
    this.stopObserving = venue.observe({
      onCommand: ({ command }) => {
        if (command.kind === "Tick" && this.lost.size > 0) this.onTick();
      },
      onLeadLost: () => this.loseAll(),
    });
  }

  requestsOf(link: () => CoreLink): PresenceRequests {
    return {
      connectSession: async ({ session }) => {
        await this.connect(link(), session);
        return {};
      },
      disconnectSession: async ({ session, isAgain }) => {
        await (isAgain ? this.disconnectAgain(session) : this.disconnectFrom(link(), session));
        return {};
      },
    };
  }

  /** The edge is gone, with all its sockets; `answered` resolves once its requests in flight are. */
  leave(edge: Edge, answered: Promise<void>): void {
    for (const [session, { edges }] of this.bound) {
      if (!edges.has(edge)) continue;
      this.lost.set(edge, GRACE_TICKS);
      this.track(answered.then(() => this.disconnectAgain(session)));
    }
  }

  /** Runs inside the apply callback: what it finds is written in a later turn. */
  private onTick(): void {
    for (const [edge, ticks] of this.lost) {
      this.lost.set(edge, ticks - 1);
      if (ticks > 1) continue;
      this.lost.delete(edge);
      const sessions = [...this.bound.keys()];
      const gone = Promise.resolve().then(() =>
        Promise.all(sessions.map((session) => this.disconnectFrom(edge, session))),
      );
      this.track(gone.then(() => undefined));
    }
  }

  /** What the log does not take from now on is not submitted again: its writer ends. */
  stop(): void {
    this.isStopping = true;
    this.stopObserving();
  }

  /** Resolves once no command is pending. */
  async settled(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending);
  }

  private connect(edge: Edge, session: number): Promise<void> {
    knownSession(this.venue, session);
    const known = this.bound.get(session);
    if (known !== undefined) {
      for (const gone of this.lost.keys()) known.edges.delete(gone);
      known.edges.add(edge);
      return known.connected;
    }
    const connected = this.submit("SessionConnected", session);
    const bound = { edges: new Set([edge]), connected };
    this.bound.set(session, bound);
    this.track(
      connected.catch((error: unknown) => {
        // The edges close the sockets, whose clients connect again.
        if (this.bound.get(session) === bound) this.bound.delete(session);
        // The log may contain it later, when no socket is left whose end would be written.
        const isUnknown = error instanceof ApiError && error.code === "outcome_unknown";
        if (isUnknown) this.track(this.disconnect(session));
        throw error;
      }),
    );
    return connected;
  }

  private async disconnectFrom(edge: Edge, session: number): Promise<void> {
    const bound = this.bound.get(session);
    if (bound?.edges.delete(edge) !== true || bound.edges.size > 0) return;
    this.bound.delete(session);
    await this.disconnect(session);
  }

  /** The log has ended the connections of this core: edges close the sockets, and report new ones. */
  private loseAll(): void {
    const edges = new Set([...this.bound.values()].flatMap((bound) => [...bound.edges]));
    this.bound.clear();
    this.lost.clear();
    // The core that leads now counts who comes back; edges ask it for the ends that it does not have.
    if (this.venue.isStandby) this.endings.clear();
    for (const edge of edges) edge.notify("connectionsLost", {});
  }

  /**
   * Writes that the session has lost its last socket. `isAgain`: the log has it as disconnected already,
   * and an order has entered it since, so both commands are written. One loop per session writes for
   * all who ask meanwhile. Settles with the first attempt.
   */
  private disconnect(session: number, isAgain = false): Promise<void> {
    return new Promise((resolve) => {
      const known = this.endings.get(session);
      if (known !== undefined) {
        known.isDue = true;
        known.isAgain ||= isAgain;
        // The pair that may be in the log is older than the order that asks now.
        if (isAgain) known.doubted = undefined;
        known.waiting.push(resolve);
        return;
      }
      const ending: Ending = { isDue: true, isAgain, waiting: [resolve], doubted: undefined };
      this.endings.set(session, ending);
      this.track(this.write(session, ending));
    });
  }

  /**
   * Until the log has it, or a new connection of the session, which ends with its own sockets: a
   * replicated log that stalls gives commands up, and would otherwise keep the session as connected for
   * as long as this core runs. Without a writer a first end needs no command: the log ends the
   * connections of a core with its writer, and the next one may join much later.
   */
  private async write(session: number, ending: Ending): Promise<void> {
    try {
      while (ending.isDue && this.isOpen(session, ending)) {
        ending.isDue = false;
        const bound = this.bound.get(session);
        if (bound !== undefined) {
          if (!(await isTaken(bound))) ending.isDue = true;
          continue;
        }
        const attempt = this.attempt(session, ending);
        for (const resolve of ending.waiting.splice(0)) resolve(attempt);
        try {
          await attempt;
        } catch (error) {
          const isLate = error instanceof ApiError && error.code !== "stopped";
          const isNeeded = ending.isAgain || this.venue.isWriting;
          if (!isLate || this.isStopping || !isNeeded) throw error;
          ending.isDue = true;
          await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        }
      }
    } finally {
      if (this.isOpen(session, ending)) this.endings.delete(session);
      for (const resolve of ending.waiting.splice(0)) resolve(Promise.resolve());
    }
  }

  private isOpen(session: number, ending: Ending): boolean {
    return this.endings.get(session) === ending;
  }

  private async attempt(session: number, ending: Ending): Promise<void> {
    const { isWriting, writer } = this.venue;
    // Both may be in the log in the end: a second connection would cancel what came between.
    const isPair = ending.isAgain && !(isWriting && ending.doubted === writer);
    try {
      if (isPair) void this.submit("SessionConnected", session).catch(() => undefined);
      await this.submit("SessionDisconnected", session);
    } catch (error) {
      const isUnknown = error instanceof ApiError && error.code === "outcome_unknown";
      if (isPair && isUnknown) ending.doubted = writer;
      throw error;
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
        // The log has the core's connections as gone, or will.
        if (!(error instanceof ApiError)) this.onFault(error);
      })
      .finally(() => this.pending.delete(settled));
    this.pending.add(settled);
  }
}

/** Whether the log takes the connection. */
function isTaken({ connected }: Bound): Promise<boolean> {
  return connected.then(
    () => true,
    () => false,
  );
}
