/**
 * The attestors' votes on deposits: a deposit is decided when a quorum of the latest votes agrees.
 * Votes are counted when one arrives, when the attestors or their quorum change, and when a pause
 * ends.
 */
import { MAX_VOTE_PARTS } from "@perpgate/protocol/rules";
import type { AttestDeposit, Configure } from "../commands.js";
import { emit } from "../events/event-log.js";
import { REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import { type AttestorVote, creditsAgain, type DepositRecord } from "../state/deposits.js";
import type { VenueState } from "../state/venue.js";
import { conclude } from "./conclude.js";
import { reopen } from "./register.js";

export function attestDeposit(s: VenueState, command: AttestDeposit): boolean {
  const config = s.config!;
  if (config.attestorKind === "dev") return refuse(s, REFUSAL.deposit_kind_mismatch);
  if (!(command.attestor >= 0 && command.attestor < config.attestors)) {
    return refuse(s, REFUSAL.attestor_unknown);
  }
  const deposit = s.deposits.byId.get(command.depositId);
  if (deposit === undefined) return refuse(s, REFUSAL.deposit_unknown);
  const { verdict, votedAtMs, confirmations, required, credits, reason } = command;
  const { part = 1, parts = 1 } = command;
  const vote = { verdict, votedAtMs, confirmations, required, credits, reason, part, parts };
  if (!isOpenTo(deposit, vote)) return refuse(s, REFUSAL.deposit_settled);
  if (!isWellFormed(vote)) return refuse(s, REFUSAL.invalid_command);
  if (isPaused(s, deposit, vote)) return refuse(s, REFUSAL.deposits_paused);
  const last = deposit.votes.get(command.attestor);
  if (last !== undefined && votedAtMs < last.votedAtMs) {
    return refuse(s, REFUSAL.vote_outdated, last.votedAtMs);
  }
  deposit.votes.set(command.attestor, vote);
  s.deposits.note(deposit);
  if (verdict !== "reorged") reportProgress(s, deposit);
  if (verdict === "confirming" || agreeing(deposit, vote) < config.attestorQuorum) return true;
  conclude(s, deposit, vote);
  return true;
}

/** Parts and logs are credited in order, each once; a deposit credited in part is never rejected. */
function isOpenTo(deposit: DepositRecord, { verdict, part, credits }: AttestorVote): boolean {
  if (verdict === "reorged") return deposit.credits.length > 0;
  if (deposit.status === "credited" || deposit.status === "rejected") return false;
  if (verdict === "credit") {
    return part === deposit.creditedParts + 1 && !creditsAgain(deposit, credits);
  }
  return verdict === "confirming" || deposit.creditedParts === 0;
}

/** A pause stops votes that settle a deposit; observations are still recorded. */
function isPaused(
  { deposits: { paused } }: VenueState,
  deposit: DepositRecord,
  { verdict, credits }: AttestorVote,
): boolean {
  if (paused.size === 0 || verdict === "confirming" || verdict === "reorged") return false;
  if (paused.has(deposit.chain)) return true;
  if (verdict === "reject") return paused.has(deposit.token);
  return credits.some(({ token = deposit.token }) => paused.has(token));
}

const MAX_REASON_LENGTH = 64;

function isWellFormed(vote: AttestorVote): boolean {
  const logs = new Set(vote.credits.map((entry) => entry.logIndex));
  return (
    isPart(vote) &&
    logs.size === vote.credits.length &&
    [vote.votedAtMs, vote.confirmations, vote.required].every(isCount) &&
    vote.reason.length <= MAX_REASON_LENGTH &&
    // The reason is the mark of a deposit that was reorganised.
    (vote.verdict !== "reorged" || vote.reason !== "") &&
    (vote.verdict !== "credit" || vote.credits.length > 0) &&
    vote.credits.every(
      ({ amountMicros, address, token }) =>
        Number.isSafeInteger(amountMicros) &&
        amountMicros > 0 &&
        /^[0-9a-f]{40}$/.test(address) &&
        (token === undefined || /^[A-Z0-9]{1,16}$/.test(token)),
    )
  );
}

function isPart({ verdict, part, parts }: AttestorVote): boolean {
  if (verdict !== "credit") return part === 1 && parts === 1;
  return isCount(part) && isCount(parts) && part >= 1 && part <= parts && parts <= MAX_VOTE_PARTS;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/**
 * Confirmations that a quorum has seen: the quorum-th highest of the attestors' counts. Equal counts
 * are ordered by attestor: the order of arrival is not kept, and votes can differ in `required`.
 */
function reportProgress(s: VenueState, deposit: DepositRecord): void {
  const ranked = [...deposit.votes].sort(
    ([a, vote], [b, other]) => other.confirmations - vote.confirmations || a - b,
  );
  const vote = ranked[s.config!.attestorQuorum - 1]?.[1];
  if (vote === undefined) return;
  const { confirmations, required } = vote;
  deposit.status = "confirming";
  if (deposit.confirmations === confirmations && deposit.required === required) return;
  deposit.confirmations = confirmations;
  deposit.required = required;
  emit.DepositProgressed(s.events, { depositId: deposit.id, confirmations, required });
}

/** Number of attestors whose latest vote states exactly the same. */
function agreeing(deposit: DepositRecord, vote: AttestorVote): number {
  const said = statementOf(vote);
  let count = 0;
  for (const other of deposit.votes.values()) if (statementOf(other) === said) count++;
  return count;
}

function statementOf(vote: AttestorVote): string {
  const credits = [...vote.credits]
    .sort((a, b) => a.logIndex - b.logIndex)
    .map(
      ({ logIndex, address, amountMicros, token = "" }) =>
        `${logIndex} ${address} ${amountMicros} ${token}`,
    );
  const { verdict, reason, part, parts } = vote;
  return [verdict, verdict === "credit" ? `${part}/${parts}` : reason, ...credits].join("|");
}

/**
 * Counts all votes again. Drops the votes of attestors that are gone or whose number belongs to
 * another attestor now; the votes of all others stay, so that a vote which its attestor has replaced
 * cannot be submitted again. Then counts, because attestors do not repeat their votes: a deposit that
 * fewer votes now suffice for would never be decided.
 *
 * Runs after the check of the invariants: votes have no undo.
 */
export function recountVotes(
  s: VenueState,
  { replacedAttestors = [] }: Pick<Configure, "replacedAttestors">,
): void {
  const { attestorKind, attestors, attestorQuorum } = s.config!;
  if (attestorKind === "dev") return;
  const replaced = new Set(replacedAttestors);
  const isGone = (attestor: number): boolean => attestor >= attestors || replaced.has(attestor);
  for (const deposit of s.deposits.toRecount()) {
    const before = deposit.votes.size;
    for (const [attestor, vote] of deposit.votes) {
      if (isGone(attestor)) withdraw(deposit, attestor, vote);
    }
    s.deposits.note(deposit);
    if (before > 0 && isWithoutWord(deposit)) {
      reopen(s, deposit, deposit.registrant, deposit.token);
      emit.DepositReopened(s.events, { depositId: deposit.id });
      continue;
    }
    if (deposit.status !== "credited") reportProgress(s, deposit);
    const decision = decisionOn(deposit, attestorQuorum);
    if (decision !== undefined && !isPaused(s, deposit, decision)) conclude(s, deposit, decision);
  }
}

/** Whether nobody says any more that it is on its chain: its confirmations are those of nobody, too. */
function isWithoutWord({ votes, credits }: DepositRecord): boolean {
  return votes.size === 0 && credits.length === 0;
}

function withdraw(deposit: DepositRecord, attestor: number, vote: AttestorVote): void {
  if (deposit.status !== "credited") deposit.votes.delete(attestor);
  // The votes for a credit stay on record; only a report that its transaction is gone is withdrawn.
  else if (vote.verdict === "reorged") {
    deposit.votes.set(attestor, { ...vote, verdict: "confirming", reason: "" });
  }
}

/** The vote that a quorum agrees on; undefined also while two quorums state different things. */
function decisionOn(deposit: DepositRecord, quorum: number): AttestorVote | undefined {
  const votes = [...deposit.votes].sort(([a], [b]) => a - b).map(([, vote]) => vote);
  const decided = votes.filter(
    (vote) =>
      vote.verdict !== "confirming" && isOpenTo(deposit, vote) && agreeing(deposit, vote) >= quorum,
  );
  const [first] = decided;
  if (first === undefined) return undefined;
  const said = statementOf(first);
  return decided.every((vote) => statementOf(vote) === said) ? first : undefined;
}
