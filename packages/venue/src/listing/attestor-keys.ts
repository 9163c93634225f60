/**
 * Who may sign votes on deposits, and where deposits go. The engine knows attestors by number and
 * counts them; their keys, the vaults and the contracts stand next to the listing in the evidence of
 * `Genesis` and `Configure`, so that every vote of the log can be checked from the log alone.
 */
import type { VenueConfig } from "@perpgate/engine";
import type { VoteScope } from "@perpgate/protocol";

/** Where deposits go on one chain. */
export type DepositScope = Omit<VoteScope, "venue">;

export interface AttestorKeys {
  /** This venue's name in votes of format 1. */
  readonly venue: string;
  /** Missing in logs from before votes bound it. */
  readonly chains?: readonly DepositScope[];
  /** Ed25519 public keys in order of the attestors' numbers, 64 lower-case hex digits each. */
  readonly members: readonly string[];
}

export function isAttestorKeys(value: unknown): value is AttestorKeys {
  if (typeof value !== "object" || value === null) return false;
  return (
    "venue" in value &&
    typeof value.venue === "string" &&
    "members" in value &&
    Array.isArray(value.members) &&
    value.members.every((key) => typeof key === "string" && /^[0-9a-f]{64}$/.test(key)) &&
    (!("chains" in value) || (Array.isArray(value.chains) && value.chains.every(isDepositScope)))
  );
}

function isDepositScope(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return (
    "chain" in value &&
    typeof value.chain === "string" &&
    "chainId" in value &&
    Number.isSafeInteger(value.chainId) &&
    "vault" in value &&
    typeof value.vault === "string" &&
    "tokens" in value &&
    Array.isArray(value.tokens)
  );
}

/** What keeps the keys from belonging to a configuration, or null. */
export function attestorKeysFault(config: VenueConfig, keys: AttestorKeys | null): string | null {
  if (keys === null) return null;
  if (config.attestorKind === "dev") return "the dev attestor has no keys";
  if (!isAttestorKeys(keys)) return "attestors' keys are 64 lower-case hex digits";
  return keys.members.length === config.attestors
    ? null
    : `${config.attestors} attestors have ${keys.members.length} keys`;
}

/**
 * Numbers whose attestor is another from one configuration to the next, or none: what a `Configure`
 * tells the engine, which has counted their votes by number.
 */
export function replacedAttestors(from: AttestorKeys | null, to: AttestorKeys | null): number[] {
  const members = from?.members ?? [];
  return [...members.keys()].filter((number) => members[number] !== to?.members[number]);
}
