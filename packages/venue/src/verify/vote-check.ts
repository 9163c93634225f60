/**
 * Checks a vote of the log: its text must say what the command says, be about the deposit it names, and
 * be signed by the key that the attestor had at that seq. And a change of attestors: the command must
 * name every attestor whose key changed.
 */
import type { AttestDeposit, Configure } from "@perpgate/engine";
import type { DepositRecord, VenueState } from "@perpgate/engine/reading";
import type { Vote } from "@perpgate/protocol";
import { hexFromBytes, isSameOutcome, isSameScope, parseVote } from "@perpgate/protocol/core";
import { type AttestorKeys, movedChains, replacedAttestors } from "../listing/attestor-keys.js";
import type { Listing } from "../listing/listing.js";
import type { Evidence } from "../record/record.js";

/** The first difference, or null. The caller checks the signature itself. */
export function voteFault(
  command: AttestDeposit,
  evidence: Evidence,
  { attestors: keys, attestorHistory }: Pick<Listing, "attestors" | "attestorHistory">,
  deposit: DepositRecord | undefined,
): string | null {
  if (keys === null) return "a vote, although the log names no attestors";
  const member = keys.members[command.attestor];
  if (member === undefined) return `a vote of attestor ${command.attestor}, who is none`;
  if (hexFromBytes(evidence.publicKey) !== member) {
    return `the vote has another key than attestor ${command.attestor}`;
  }
  const vote = parseVote(Buffer.from(evidence.signed).toString("latin1"));
  if (vote === undefined) return "the text of the vote cannot be read";
  const fault = scopeFault(vote, keys, attestorHistory?.venueId);
  if (fault !== null) return fault;
  if (!isOf(vote, command)) return "the vote's text says something else than the command";
  if (deposit !== undefined && (vote.chain !== deposit.chain || vote.txHash !== deposit.txHash)) {
    return "the vote is about another transaction than its deposit";
  }
  return null;
}

/** A vote binds Genesis and the vaults and contracts of that time. */
function scopeFault(
  vote: Vote,
  { chains = [] }: AttestorKeys,
  venueId: string | undefined,
): string | null {
  if (vote.venue !== venueId) return `the vote is for the venue ${vote.venue}`;
  const configured = chains.find(({ chain }) => chain === vote.chain);
  return configured !== undefined && isSameScope(vote, { ...configured, venue: venueId })
    ? null
    : "the vote is for another chain id, vault or contract than the log names";
}

function isOf(vote: Vote, command: AttestDeposit): boolean {
  return (
    vote.attestor === command.attestor &&
    vote.depositId === command.depositId &&
    vote.votedAtMs === command.votedAtMs &&
    vote.confirmations === command.confirmations &&
    vote.required === command.required &&
    isSameOutcome(vote, command)
  );
}

/** Whether an executed Configure names exactly the attestors whose key changed. */
export function replacementFault(
  command: Configure,
  before: AttestorKeys | null,
  after: AttestorKeys | null,
): string | null {
  const changed = replacedAttestors(before, after).join(", ") || "nobody";
  const named = command.replacedAttestors?.join(", ") || "nobody";
  if (named === changed) return null;
  return `the keys of attestors change: ${changed}; the command names ${named}`;
}

/** Whether an executed Configure left open withdrawals behind at another vault, which it did not name. */
export function movedFault(
  before: AttestorKeys | null,
  after: AttestorKeys | null,
  { withdrawals }: Pick<VenueState, "withdrawals">,
): string | null {
  const chain = movedChains(before, after).find((each) => withdrawals.hasOpen(each));
  return chain === undefined
    ? null
    : `the vault, chain id or a contract of ${chain} changes while withdrawals there are open`;
}
