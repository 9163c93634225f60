/** One attempt of a client to have a command executed, and its answer. */
import type { Command } from "@perpgate/engine";
import type { Unanswered } from "@perpgate/venue";

/** `lost`: the gateway died, and the client learned nothing. */
export type Answer = Unanswered | "applied" | "lost" | "waiting";

export interface TraderAttempt {
  readonly number: number;
  readonly command: Command;
  readonly sentAtMs: number;
  /** Of the process, when it was sent: it may pause meanwhile. */
  readonly pausedMs: number;
  answer: Answer;
  /** Answered in a restored stream by a gateway that had not read what the stream lost. */
  isForked: boolean;
  seq: number;
  events: Uint8Array;
}
