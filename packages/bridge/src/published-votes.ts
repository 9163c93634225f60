/**
 * Verifies the votes on a deposit from the JSON that a venue publishes (`GET /v1/bridge/deposits/{id}`).
 * The trusted keys and the venue's id must come from another source. Whether the chain agrees is not
 * checked here.
 */

import type { AnyVote, AttestedDeposit, DepositVote } from "@perpgate/protocol";
import { parseAnyVote } from "@perpgate/protocol/core";
import { publicKeyFromHex } from "./attestor-key.js";
import { isSignedText, type VoteProblem } from "./vote.js";

export interface TrustedAttestors {
  /** The hash of the venue's Genesis, bound by votes of format 2. */
  readonly venueId: string;
  /** The venue's name, bound by votes of format 1; without it these are rejected. */
  readonly venue?: string;
  /** Ed25519 public keys by attestor index, hex. */
  readonly members: readonly string[];
  readonly quorum: number;
}

export type PublishedVoteProblem = VoteProblem | "other_deposit" | "mislabelled";

/** Why a published vote is invalid for the deposit, or null. */
export async function checkPublishedVote(
  deposit: AttestedDeposit,
  published: DepositVote,
  trusted: Omit<TrustedAttestors, "quorum">,
): Promise<PublishedVoteProblem | null> {
  const read = parseAnyVote(published.text);
  if (read === undefined) return "malformed";
  if (!isForVenue(read, trusted)) return "other_venue";
  const { vote } = read;
  const member = trusted.members[vote.attestor];
  if (member === undefined) return "attestor_unknown";
  if (!(await isSignedText(published.text, published.signature, publicKeyFromHex(member)))) {
    return "invalid_signature";
  }
  if (!isOn(read, deposit)) return "other_deposit";
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
 * (except `deposit_limit`, which the engine decides).
 *
 * After a change of keys, pass every set of attestors that the venue had (`keys` of
 * `GET /v1/bridge`); one of them must support the status.
 */
export async function checkPublishedDeposit(
  deposit: AttestedDeposit,
  trusted: TrustedAttestors | readonly TrustedAttestors[],
): Promise<string | null> {
  const sets: readonly TrustedAttestors[] = "members" in trusted ? [trusted] : trusted;
  let problem: string | null = "no trusted attestors";
  for (const set of sets) {
    problem = await checkAgainst(deposit, set);
    if (problem === null) return null;
  }
  return problem;
}

async function checkAgainst(
  deposit: AttestedDeposit,
  trusted: TrustedAttestors,
): Promise<string | null> {
  const votes: AnyVote[] = [];
  for (const published of deposit.votes) {
    const problem = await checkPublishedVote(deposit, published, trusted);
    if (problem !== null) return `the vote of attestor ${published.attestor} is ${problem}`;
    const read = parseAnyVote(published.text);
    if (read !== undefined) votes.push(read);
  }
  const isSettled = deposit.status === "credited" || deposit.status === "rejected";
  if (!isSettled || deposit.reason === "deposit_limit") return null;
  if (deposit.status === "rejected") {
    const backing = votes.filter(({ vote }) => {
      return vote.verdict === "reject" && vote.reason === deposit.reason;
    });
    return enough(backing.length, trusted.quorum);
  }
  return creditsProblem(deposit, votes, trusted.quorum);
}

/** The credits with a quorum must together equal the published credits. */
function creditsProblem(
  deposit: AttestedDeposit,
  votes: readonly AnyVote[],
  quorum: number,
): string | null {
  const attestors = new Map<string, Set<number>>();
  for (const read of votes) {
    if (read.vote.verdict !== "credit") continue;
    const statement = rowsOf(read).join("\n");
    const backing = attestors.get(statement) ?? new Set();
    attestors.set(statement, backing.add(read.vote.attestor));
  }
  const backed = [...attestors].flatMap(([statement, { size }]) => {
    return size >= quorum ? statement.split("\n") : [];
  });
  const shown = deposit.credits.map(
    ({ logIndex, token, account, amount }) =>
      `${logIndex} ${token} ${account.toLowerCase()} ${Math.round(amount * 1e6)}`,
  );
  if (backed.sort().join() === shown.sort().join()) return null;
  const most = Math.max(0, ...[...attestors.values()].map(({ size }) => size));
  return enough(most, quorum) ?? "a quorum voted for other credits";
}

function enough(count: number, quorum: number): string | null {
  return count >= quorum ? null : `${count} of ${quorum} required votes`;
}

function rowsOf(read: AnyVote): string[] {
  if (read.format === 1) {
    return read.vote.credits.map(
      ({ logIndex, address, amountMicros }) =>
        `${logIndex} ${read.vote.token} 0x${address} ${amountMicros}`,
    );
  }
  return read.vote.credits.map(
    ({ logIndex, token, address, amountMicros }) =>
      `${logIndex} ${token} 0x${address} ${amountMicros}`,
  );
}

function isForVenue(
  { format, vote }: AnyVote,
  { venueId, venue }: Pick<TrustedAttestors, "venueId" | "venue">,
): boolean {
  return format === 1 ? vote.venue === venue : vote.venue === venueId;
}

function isOn(read: AnyVote, deposit: AttestedDeposit): boolean {
  const { depositId, chain, txHash } = read.vote;
  return (
    String(depositId) === deposit.depositId &&
    chain === deposit.chain &&
    `0x${txHash}` === deposit.txHash &&
    (read.format === 2 || read.vote.token === deposit.token)
  );
}
