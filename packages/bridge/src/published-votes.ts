/**
 * Checks attestations from the JSON that a venue publishes (`GET /v1/bridge/deposits/{id}`) and from
 * nothing else of that venue. Comes in: the deposit with its votes, and whom the checker trusts: the
 * attestors' keys and the venue's name, learned elsewhere. Whether the chain agrees is the next
 * question, which any node of it answers.
 */

import { type AttestedDeposit, type DepositVote, parseVote, type Vote } from "@perpgate/protocol";
import { publicKeyFromHex } from "./attestor-key.js";
import { type VoteProblem, verifyVote } from "./vote.js";

export interface TrustedAttestors {
  readonly venue: string;
  /** Ed25519 public keys in order of the attestors' numbers, hex. */
  readonly members: readonly string[];
  readonly quorum: number;
}

export type PublishedVoteProblem = VoteProblem | "other_deposit" | "mislabelled";

/** What is wrong with a published vote on that deposit, or null. */
export async function checkPublishedVote(
  deposit: AttestedDeposit,
  published: DepositVote,
  { venue, members }: Pick<TrustedAttestors, "venue" | "members">,
): Promise<PublishedVoteProblem | null> {
  const vote = parseVote(published.text);
  if (vote === undefined) return "malformed";
  const keys = members.map(publicKeyFromHex);
  const problem = await verifyVote({ vote, signature: published.signature }, keys, venue);
  if (problem !== null) return problem;
  if (!isOn(vote, deposit)) return "other_deposit";
  return vote.attestor === published.attestor &&
    members[vote.attestor]?.toLowerCase() === published.publicKey &&
    vote.verdict === published.verdict &&
    vote.votedAtMs === published.votedAt
    ? null
    : "mislabelled";
}

/**
 * Whether the votes carry what the deposit shows: null, or what is wrong in one sentence. A credited
 * deposit needs a quorum of votes with exactly its credits, a rejected one with its reason (a bound
 * of the engine, `deposit_limit`, is no attestor's to vote on).
 */
export async function checkPublishedDeposit(
  deposit: AttestedDeposit,
  trusted: TrustedAttestors,
): Promise<string | null> {
  const backing = new Set<number>();
  for (const published of deposit.votes) {
    const problem = await checkPublishedVote(deposit, published, trusted);
    if (problem !== null) return `the vote of attestor ${published.attestor} is ${problem}`;
    const vote = parseVote(published.text);
    if (vote !== undefined && isBacking(vote, deposit)) backing.add(vote.attestor);
  }
  const isSettled = deposit.status === "credited" || deposit.status === "rejected";
  if (!isSettled || deposit.reason === "deposit_limit") return null;
  return backing.size >= trusted.quorum
    ? null
    : `${backing.size} votes carry it, ${trusted.quorum} are needed`;
}

function isOn(vote: Vote, deposit: AttestedDeposit): boolean {
  return (
    String(vote.depositId) === deposit.depositId &&
    vote.chain === deposit.chain &&
    `0x${vote.txHash}` === deposit.txHash &&
    vote.token === deposit.token
  );
}

function isBacking(vote: Vote, deposit: AttestedDeposit): boolean {
  if (deposit.status === "rejected") {
    return vote.verdict === "reject" && vote.reason === deposit.reason;
  }
  const own = vote.credits.map(
    ({ logIndex, address, amountMicros }) => `${logIndex} 0x${address} ${amountMicros}`,
  );
  const shown = deposit.credits.map(
    ({ logIndex, account, amount }) =>
      `${logIndex} ${account.toLowerCase()} ${Math.round(amount * 1e6)}`,
  );
  return vote.verdict === "credit" && own.sort().join() === shown.sort().join();
}
