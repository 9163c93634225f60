/**
 * Who may sign votes on deposits, and where deposits go. The engine knows attestors by number only;
 * their keys, the vaults and the contracts are stored with the listing in the evidence of `Genesis`
 * and `Configure`, so that every vote can be checked from the log alone.
 */
import type { VenueConfig } from "@perpgate/engine";
import type { VoteScope } from "@perpgate/protocol";
import { hasFields, isHexOf, isInteger, isListOf, isOptional, isText } from "../stored-json.js";

/** Where deposits go on one chain. */
type DepositScope = Omit<VoteScope, "venue">;

export interface AttestorKeys {
  /** This venue's name. */
  readonly venue: string;
  /** Without them no vote counts. */
  readonly chains?: readonly DepositScope[];
  /** Ed25519 public keys in order of the attestors' numbers, 64 lower-case hex digits each. */
  readonly members: readonly string[];
}

export function isAttestorKeys(value: unknown): value is AttestorKeys {
  const isScope = (scope: unknown) =>
    hasFields(scope, {
      chain: isText,
      chainId: isInteger,
      vault: isText,
      tokens: Array.isArray,
    });
  return hasFields(value, {
    venue: isText,
    members: isListOf(isHexOf(64)),
    chains: isOptional(isListOf(isScope)),
  });
}

/** Why the keys do not fit the configuration, or null. */
export function attestorKeysFault(config: VenueConfig, keys: AttestorKeys | null): string | null {
  if (keys === null) return null;
  if (config.attestorKind === "dev") return "the dev attestor has no keys";
  if (!isAttestorKeys(keys)) return "attestors' keys are 64 lower-case hex digits";
  return keys.members.length === config.attestors
    ? null
    : `${config.attestors} attestors have ${keys.members.length} keys`;
}

/**
 * Numbers of the attestors whose key was replaced or removed. A `Configure` passes them to the engine,
 * which has counted their votes by number.
 */
export function replacedAttestors(from: AttestorKeys | null, to: AttestorKeys | null): number[] {
  const members = from?.members ?? [];
  return [...members.keys()].filter((number) => members[number] !== to?.members[number]);
}

/** Chains whose vault, chain id or a token's contract is another one, or gone. New tokens move nothing. */
export function movedChains(from: AttestorKeys | null, to: AttestorKeys | null): string[] {
  const isSame = (before: DepositScope): boolean => {
    const after = to?.chains?.find(({ chain }) => chain === before.chain);
    if (after?.chainId !== before.chainId || after.vault !== before.vault) return false;
    return before.tokens.every(({ token, contract }) =>
      after.tokens.some((each) => each.token === token && each.contract === contract),
    );
  };
  const chains = from?.chains ?? [];
  return chains.filter((scope) => !isSame(scope)).map(({ chain }) => chain);
}
