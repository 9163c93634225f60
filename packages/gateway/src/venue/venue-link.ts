/**
 * Submits commands to the venue and awaits their outcome.
 *
 * `take` runs inside the venue's apply callback, where an exception would stop the venue, so it only
 * reads the outcome; code that may throw runs after the promise has resolved.
 */

import { ApiError } from "@perpgate/protocol/core";
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
  /** The command's position in the log. */
  readonly seq: number;
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

  /** The wall clock, which the times in sign-in messages are compared with. */
  wallMs(): number {
    return this.venue.wallMs();
  }

  /**
   * Resolves once the command is durable and applied. Rejects with `stopped` if the venue stops first:
   * the log may contain the command, and then the next start applies it.
   */
  execute(command: VenueCommand, evidence: Evidence = NO_EVIDENCE): Promise<Executed> {
    return this.executeTaking(command, evidence, (applied) => ({
      seq: applied.seq,
      timeMs: applied.timeMs,
      outcome: this.views.outcome(applied),
    }));
  }

  /** Resolves with the result of `take`, which runs inside the apply callback and must not throw. */
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

/** For a refusal that no client can cause: a bug. */
export function unexpectedRefusal(command: string, { refusal }: RefusedOutcome): Error {
  return new Error(`${command} was refused: ${refusal}`);
}
