/** Submits an operator's command to a running venue; a refusal becomes a sentence for the operator. */

import { NO_EVIDENCE, OPERATOR_EXPIRY_MS, type Venue } from "@perpgate/venue";

type Command = Parameters<Venue["submitted"]>[0];

/** The engine's refusals of operator commands. */
const MESSAGES: Readonly<Record<string, string>> = {
  deposit_kind_mismatch: "this venue runs the dev attestor",
  deposit_unknown: "there is no such deposit",
  deposit_not_rejected: "the deposit is not rejected",
  deposit_not_reorged: "the deposit is not reorganised away, or was settled before",
  command_expired: "the command took too long to reach the log; repeat it",
  operator_rate_limit: "ten operator commands were executed within the last minute; wait",
  market_unknown: "there is no such market",
  market_settled: "the market is settled, or its settlement has begun at another price",
  invalid_command: "the price is no price that all positions can be settled at",
  version_not_next: "the version is not the next one after that in force",
  writer_lacks_version: "a gateway cannot read that version: update all gateways first",
};

/** When the command was made, and until when it may take effect. */
export function operatorTimes(venue: Venue): { stampMs: number; expiresAtMs: number } {
  const stampMs = venue.nowMs();
  return { stampMs, expiresAtMs: stampMs + OPERATOR_EXPIRY_MS };
}

/** Throws while this core stands by: it would execute nothing. */
export function refuseOnStandby({
  isStandby,
  writers,
}: Pick<Venue, "isStandby" | "writers">): void {
  if (!isStandby) return;
  const [leader = "no core"] = writers;
  throw new Error(`this core does not lead: ${leader} does`);
}

/** Resolves once the command is durable and executed; rejects with the reason for a refusal. */
export async function submitOperatorCommand(venue: Venue, command: Command): Promise<void> {
  refuseOnStandby(venue);
  const refusal = await venue.submitted(command, NO_EVIDENCE, (applied) => {
    const outcome = venue.views.outcome(applied);
    return outcome.kind === "refused" ? outcome.refusal : null;
  });
  if (refusal !== null) throw new Error(MESSAGES[refusal] ?? refusal);
}
