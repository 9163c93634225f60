/**
 * Verifies the votes on a deposit from the JSON that a venue publishes (`GET /v1/bridge/deposits/{id}`).
 * The trusted keys and the venue's id must come from another source. Whether the chain agrees is not
 * checked here.
 */

import type { AttestedDeposit, DepositVote, Vote } from "@perpgate/protocol";
import { parseVote } from "@perpgate/protocol/core";
import { publicKeyFromHex } from "./attestor-key.js";
import { isSignedText, type VoteProblem } from "./vote.js";

interface TrustedAttestors {
  /** The hash of the venue's Genesis. */
  readonly venueId: string;
  /** Ed25519 public keys by attestor index, hex. */
  readonly members: readonly string[];
  readonly quorum: number;
}

type PublishedVoteProblem = VoteProblem | "other_deposit" | "mislabelled";

/** Why a published vote is invalid for the deposit, or null. */
export async function checkPublishedVote(
  deposit: AttestedDeposit,
  published: DepositVote,
  trusted: Omit<TrustedAttestors, "quorum">,
): Promise<PublishedVoteProblem | null> {
  const vote = parseVote(published.text);
  if (vote === undefined) return "malformed";
  if (vote.venue !== trusted.venueId) return "other_venue";
  const member = trusted.members[vote.attestor];
  if (member === undefined) return "attestor_unknown";
  if (!(await isSignedText(published.text, published.signature, publicKeyFromHex(member)))) {
    return "invalid_signature";
  }
  if (!isOn(vote, deposit)) return "other_deposit";
  return vote.attestor === published.attestor &&
    member.toLowerCase() === published.publicKey &&
    vote.verdict === published.verdict &&
    vote.votedAtMs === published.votedAt
    ? null
    : "mislabelled";
}

/**
 * Null if the votes support the published status, otherwise the problem. A credited deposit needs a
 * quorum of votes on each part with exactly its credits, a rejected one a quorum with its reason
 * (except `deposit_limit`, which the engine decides). A transaction that a quorum saw reorganised may
 * be credited in part.
 *
 * After a change of keys, pass every set of attestors that the venue had (`keys` of
 * `GET /v1/bridge`). Each vote must be one of some set, and each quorum one of a single set.
 */
export async function checkPublishedDeposit(
  deposit: AttestedDeposit,
  trusted: TrustedAttestors | readonly TrustedAttestors[],
): Promise<string | null> {
  const sets: readonly TrustedAttestors[] = "members" in trusted ? [trusted] : trusted;
  if (sets.length === 0) return "no trusted attestors";
  const votes: CheckedVote[] = [];
  for (const published of deposit.votes) {
    const checked = await checkedVote(deposit, published, sets);
    if (typeof checked === "string") {
      return `the vote of attestor ${published.attestor} is ${checked}`;
    }
    votes.push(checked);
  }
  const backed = backedCredits(votes, sets);
  if (deposit.status === "credited") return creditedProblem(deposit, votes, backed, sets);
  const rows = new Set(backed.flatMap(rowsOf));
  if (!shownRows(deposit).every((row) => rows.has(row))) return "a credit has no quorum";
  if (deposit.status !== "rejected" || deposit.reason === "deposit_limit") return null;
  return quorumProblem(withReason(votes, "reject", deposit.reason), sets);
}

interface CheckedVote {
  readonly vote: Vote;
  /** The sets of attestors in which the vote is valid. */
  readonly sets: readonly TrustedAttestors[];
}

/** The vote, or why it is valid in none of the sets. */
async function checkedVote(
  deposit: AttestedDeposit,
  published: DepositVote,
  sets: readonly TrustedAttestors[],
): Promise<CheckedVote | PublishedVoteProblem> {
  const vote = parseVote(published.text);
  if (vote === undefined) return "malformed";
  const valid: TrustedAttestors[] = [];
  let last: PublishedVoteProblem = "attestor_unknown";
  for (const set of sets) {
    const problem = await checkPublishedVote(deposit, published, set);
    if (problem === null) valid.push(set);
    else last = problem;
  }
  return valid.length === 0 ? last : { vote, sets: valid };
}

/** Null if enough attestors of one set voted; a vote that is listed twice counts once. */
function quorumProblem(
  votes: readonly CheckedVote[],
  sets: readonly TrustedAttestors[],
): string | null {
  const counts = sets.map((set) => {
    const own = votes.filter((each) => each.sets.includes(set));
    return { count: new Set(own.map(({ vote }) => vote.attestor)).size, quorum: set.quorum };
  });
  if (counts.some(({ count, quorum }) => count >= quorum)) return null;
  const [most] = counts.sort((a, b) => b.count - a.count);
  return most === undefined
    ? "no trusted attestors"
    : `${most.count} of ${most.quorum} required votes`;
}

function withReason(
  votes: readonly CheckedVote[],
  verdict: "reject" | "reorged",
  reason: string | null,
): CheckedVote[] {
  return votes.filter(({ vote }) => vote.verdict === verdict && vote.reason === reason);
}

/** One vote of each statement to credit that has a quorum. */
function backedCredits(votes: readonly CheckedVote[], sets: readonly TrustedAttestors[]): Vote[] {
  return statementsIn(votes).flatMap(([first, ...rest]) =>
    first === undefined || quorumProblem([first, ...rest], sets) !== null ? [] : [first.vote],
  );
}

/** The votes to credit, grouped by what they state. */
function statementsIn(votes: readonly CheckedVote[]): CheckedVote[][] {
  const groups = new Map<string, CheckedVote[]>();
  for (const checked of votes) {
    const { verdict, part, parts } = checked.vote;
    if (verdict !== "credit") continue;
    const statement = [`${part}/${parts}`, ...rowsOf(checked.vote)].join("\n");
    groups.set(statement, [...(groups.get(statement) ?? []), checked]);
  }
  return [...groups.values()];
}

/** The parts with a quorum must be all parts, and together have exactly the published credits. */
function creditedProblem(
  deposit: AttestedDeposit,
  votes: readonly CheckedVote[],
  backed: readonly Vote[],
  sets: readonly TrustedAttestors[],
): string | null {
  if (backed.length === 0) {
    const [most = []] = statementsIn(votes).sort((a, b) => b.length - a.length);
    return quorumProblem(most, sets) ?? "no credits";
  }
  const numbers = new Set(backed.map(({ part }) => part));
  const last = lastPartOf(backed);
  for (let part = 1; part <= last; part++) {
    if (numbers.has(part)) continue;
    const isCutShort = deposit.reorged !== null && part > Math.max(...numbers);
    if (!isCutShort) return `part ${part} of ${last} has no quorum`;
    const problem = quorumProblem(withReason(votes, "reorged", deposit.reorged), sets);
    if (problem !== null) return problem;
    break;
  }
  const isSame = backed.flatMap(rowsOf).sort().join() === shownRows(deposit).sort().join();
  return isSame ? null : "a quorum voted for other credits";
}

/** The part that completes the deposit; other terms may have changed the number of parts. */
function lastPartOf(backed: readonly Vote[]): number {
  const final = backed.find(({ part, parts }) => part === parts);
  return final?.part ?? Math.max(...backed.map(({ parts }) => parts));
}

function shownRows({ credits }: AttestedDeposit): string[] {
  return credits.map(
    ({ logIndex, token, account, amount }) =>
      `${logIndex} ${token} ${account.toLowerCase()} ${Math.round(amount * 1e6)}`,
  );
}

function rowsOf({ credits }: Vote): string[] {
  return credits.map(
    ({ logIndex, token, address, amountMicros }) =>
      `${logIndex} ${token} 0x${address} ${amountMicros}`,
  );
}

function isOn({ depositId, chain, txHash }: Vote, deposit: AttestedDeposit): boolean {
  return (
    String(depositId) === deposit.depositId &&
    chain === deposit.chain &&
    `0x${txHash}` === deposit.txHash
  );
}
