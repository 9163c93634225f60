/** Signs votes and checks them: Ed25519 over the text that the protocol gives a vote. */

import { type KeyObject, sign, verify } from "node:crypto";
import { promisify } from "node:util";
import {
  bytesFromHex,
  hexFromBytes,
  isWellFormedVote,
  type Vote,
  voteText,
} from "@perpgate/protocol";

export {
  isSameOutcome,
  VOTE_FORMAT,
  type Vote,
  type VoteBlock as BlockReference,
  type VoteCredit,
  type VoteStatement as Statement,
  type VoteVerdict as Verdict,
} from "@perpgate/protocol";

export interface SignedVote {
  readonly vote: Vote;
  /** Ed25519 over `voteBytes(vote)`, 128 lower-case hex digits. */
  readonly signature: string;
}

export type VoteProblem = "malformed" | "other_venue" | "attestor_unknown" | "invalid_signature";

/** On the thread pool: a thousand votes must not hold up the orders on this thread. */
const signAside = promisify(
  (algorithm: null, data: Uint8Array, key: KeyObject, done: (e: Error | null, b: Buffer) => void) =>
    sign(algorithm, data, key, done),
);
const verifyAside = promisify(verify);

/** The canonical bytes of a well-formed vote. */
export function voteBytes(vote: Vote): Uint8Array {
  return Buffer.from(voteText(vote), "latin1");
}

export async function signVote(vote: Vote, privateKey: KeyObject): Promise<SignedVote> {
  return { vote, signature: hexFromBytes(await signAside(null, voteBytes(vote), privateKey)) };
}

/** What is wrong with a vote, or null. `members` are the attestors' public keys by number. */
export async function verifyVote(
  { vote, signature }: SignedVote,
  members: readonly KeyObject[],
  venue: string,
): Promise<VoteProblem | null> {
  if (!isWellFormedVote(vote)) return "malformed";
  if (vote.venue !== venue) return "other_venue";
  const member = members[vote.attestor];
  if (member === undefined) return "attestor_unknown";
  const bytes = /^[0-9a-f]{128}$/.test(signature) ? bytesFromHex(signature) : undefined;
  if (bytes === undefined) return "invalid_signature";
  const isValid = await verifyAside(null, voteBytes(vote), member, bytes);
  return isValid ? null : "invalid_signature";
}
