/**
 * Votes when the attestors or their quorum change, or a pause ends. A vote counts for its attestor:
 * one whose number is somebody else's now, or nobody's, is dropped, and the votes of all others
 * stand, so that a vote which its attestor has since taken back cannot be handed in again. Then what
 * is left is counted: attestors do not repeat themselves, so a deposit that fewer votes suffice for
 * would otherwise wait for good.
 */
import type { Configure } from "../commands.js";
import type { VenueState } from "../state/venue.js";
import type { Deposit, Vote } from "./deposit-book.js";
import { agreeing, conclude, isPaused, reportProgress, statementOf } from "./deposit-commands.js";

/** After the command was taken, when nothing can fail any more: votes are not undone. */
export function recountVotes(
  s: VenueState,
  { replacedAttestors = [] }: Pick<Configure, "replacedAttestors">,
): void {
  const { attestorKind, attestors, attestorQuorum } = s.config!;
  if (attestorKind === "dev") return;
  const replaced = new Set(replacedAttestors);
  const isGone = (attestor: number): boolean => attestor >= attestors || replaced.has(attestor);
  for (const deposit of [...s.deposits.byId.values()].sort((a, b) => a.id - b.id)) {
    if (deposit.status === "rejected" || deposit.reorged !== "") continue;
    for (const [attestor, vote] of deposit.votes) {
      if (isGone(attestor)) withdraw(deposit, attestor, vote);
    }
    if (deposit.status !== "credited") reportProgress(s, deposit);
    const decision = decisionOn(deposit, attestorQuorum);
    if (decision !== undefined && !isPaused(s, deposit, decision)) conclude(s, deposit, decision);
  }
}

function withdraw(deposit: Deposit, attestor: number, vote: Vote): void {
  if (deposit.status !== "credited") deposit.votes.delete(attestor);
  // Who carried a credit stays known; only the word that its transaction is gone is taken back.
  else if (vote.verdict === "reorged") {
    deposit.votes.set(attestor, { ...vote, verdict: "confirming", reason: "" });
  }
}

/** What a quorum says; undefined also while two quorums say different things. */
function decisionOn(deposit: Deposit, quorum: number): Vote | undefined {
  const votes = [...deposit.votes].sort(([a], [b]) => a - b).map(([, vote]) => vote);
  const decided = votes.filter(
    (vote) => isOpenVote(deposit, vote) && agreeing(deposit, vote) >= quorum,
  );
  const [first] = decided;
  if (first === undefined) return undefined;
  const said = statementOf(first);
  return decided.every((vote) => statementOf(vote) === said) ? first : undefined;
}

/** Whether a quorum of such votes would still change the deposit. */
function isOpenVote(deposit: Deposit, { verdict, part }: Vote): boolean {
  if (verdict === "confirming") return false;
  if (verdict === "reorged") return deposit.credits.length > 0;
  if (deposit.status === "credited") return false;
  return verdict === "credit" ? part === deposit.creditedParts + 1 : deposit.creditedParts === 0;
}
