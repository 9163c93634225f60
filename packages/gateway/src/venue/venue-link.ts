/**
 * The gateway's hold on the venue: hands commands in, and waits for what became of them.
 *
 * What the venue calls back runs inside its own order of things, where an exception would stop it;
 * so only the outcome is taken there, and all that may refuse or throw happens afterwards.
 */

import { ApiError } from "@perpgate/protocol";
import {
  type Applied,
  type Evidence,
  NO_EVIDENCE,
  type Outcome,
  type Venue,
  VenueStopped,
} from "@perpgate/venue";

export type VenueCommand = Parameters<Venue["submit"]>[0];
export type CommandOf<Kind extends VenueCommand["kind"]> = Extract<VenueCommand, { kind: Kind }>;
export type LiveSession = NonNullable<ReturnType<Venue["views"]["session"]>>;
export type RefusedOutcome = Extract<Outcome, { kind: "refused" }>;

export interface Executed {
  readonly position: number;
  /** The venue's time at the command. */
  readonly timeMs: number;
  readonly outcome: Outcome;
}

export class VenueLink {
  constructor(readonly venue: Venue) {}

  get views(): Venue["views"] {
    return this.venue.views;
  }

  nowMs(): number {
    return this.venue.nowMs();
  }

  /** The gateway's wall clock: what times in sign-in messages are judged by. */
  wallMs(): number {
    return this.venue.wallMs();
  }

  /**
   * Resolves once the command is durable and applied. Refuses with `stopped` if this process will not
   * see that: the log may have the command all the same, and then the next start applies it.
   */
  execute(command: VenueCommand, evidence: Evidence = NO_EVIDENCE): Promise<Executed> {
    return this.executeTaking(command, evidence, (applied) => ({
      position: applied.seq,
      timeMs: applied.timeMs,
      outcome: this.views.outcome(applied),
    }));
  }

  /** The same with what `take` reads from the command's own events; it must not throw. */
  async executeTaking<T>(
    command: VenueCommand,
    evidence: Evidence,
    take: (applied: Applied) => T,
  ): Promise<T> {
    try {
      return await this.venue.submitted(command, evidence, take);
    } catch (error) {
      throw error instanceof VenueStopped ? new ApiError("stopped", {}) : error;
    }
  }
}

/** A refusal that no client can cause: the program is wrong, and says where. */
export function unexpectedRefusal(command: string, { refusal }: RefusedOutcome): Error {
  return new Error(`${command} was refused: ${refusal}`);
}
