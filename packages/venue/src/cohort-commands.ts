/** A change of the cohort (who may open positions), as commands that each fit into a log record. */
import type { CohortStage, Command } from "@perpgate/engine";

/** How long after its stamp an operator command may still take effect. */
export const OPERATOR_EXPIRY_MS = 30_000;

type SetCohort = Extract<Command, { kind: "SetCohort" }>;

interface CohortLists {
  readonly stage: CohortStage;
  /** Addresses, lower-case hex without `0x`. */
  readonly allow: readonly string[];
  readonly disallow: readonly string[];
}

/**
 * Addresses per command, of each list: the size of a log record is bounded, and so is the number of
 * operator commands a minute.
 */
const ADDRESSES_PER_COMMAND = 2_500;

/** Returns at least one command: a change of the stage alone needs one too. */
export function cohortCommands(
  { stage, allow, disallow }: CohortLists,
  stampMs: number,
): SetCohort[] {
  const commands: SetCohort[] = [];
  const longest = Math.max(allow.length, disallow.length, 1);
  for (let from = 0; from < longest; from += ADDRESSES_PER_COMMAND) {
    const part = (addresses: readonly string[]) =>
      addresses.slice(from, from + ADDRESSES_PER_COMMAND);
    commands.push({
      kind: "SetCohort",
      stampMs,
      expiresAtMs: stampMs + OPERATOR_EXPIRY_MS,
      stage,
      allow: part(allow),
      disallow: part(disallow),
    });
  }
  return commands;
}
