/** A change of who may open positions, as commands that a record of the log can hold. */
import type { CohortStage, Command } from "@perpgate/engine";

export type SetCohort = Extract<Command, { kind: "SetCohort" }>;

export interface CohortLists {
  readonly stage: CohortStage;
  /** Addresses, lower-case hex without `0x`. */
  readonly allow: readonly string[];
  readonly disallow: readonly string[];
}

/** Addresses in one command: a record of the log has a bound. */
const ADDRESSES_PER_COMMAND = 1_000;

/** At least one, since the stage is a change of its own. */
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
      stage,
      allow: part(allow),
      disallow: part(disallow),
    });
  }
  return commands;
}
