/** Signs and verifies votes: Ed25519 over a vote's text. */

import { type KeyObject, sign, verify } from "node:crypto";
import { promisify } from "node:util";
import type { Vote } from "@perpgate/protocol";
import { hexFromBytes, isWellFormedVote, voteText } from "@perpgate/protocol/core";

import { publicKeyFromHex } from "./attestor-key.js";

export {
  isSameOutcome,
  VOTE_FORMAT,
  type Vote,
  type VoteBlock as BlockReference,
  type VoteCredit,
  type VoteStatement as Statement,
  type VoteVerdict as Verdict,
} from "@perpgate/protocol";

/** Whether a key signed a text. */
export async function isSignedText(
  text: string,
  signature: string,
  key: KeyObject,
): Promise<boolean> {
  if (!/^[0-9a-f]{128}$/.test(signature)) return false;
  return verifyOnThreadPool(null, Buffer.from(text, "latin1"), key, Buffer.from(signature, "hex"));
}

/** Ed25519 by a raw public key: how proofs are checked. */
export function verifyText(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) {
  const key = publicKeyFromHex(hexFromBytes(publicKey));
  return verifyOnThreadPool(null, message, key, signature);
}

export interface SignedVote {
  readonly vote: Vote;
  /** Ed25519 over `voteBytes(vote)`, 128 lower-case hex digits. */
  readonly signature: string;
}

export type VoteProblem = "malformed" | "other_venue" | "attestor_unknown" | "invalid_signature";

/** On the thread pool, so that orders are not delayed. */
const verifyOnThreadPool = promisify(verify);

/** The canonical bytes of a well-formed vote. */
export function voteBytes(vote: Vote): Uint8Array {
  return Buffer.from(voteText(vote), "latin1");
}

export function signVote(vote: Vote, privateKey: KeyObject): SignedVote {
  return { vote, signature: hexFromBytes(sign(null, voteBytes(vote), privateKey)) };
}

/** The public key of an attestor by its index; undefined if there is none. */
type MemberKeys = (attestor: number) => KeyObject | undefined;

/** Why a vote is invalid, or null. `venueId` is the hash of the venue's Genesis. */
export async function verifyVote(
  signed: SignedVote,
  memberOf: MemberKeys,
  venueId: string,
): Promise<VoteProblem | null> {
  const claim = claimOf(signed, memberOf, venueId);
  if (typeof claim === "string") return claim;
  const isValid = await verifyOnThreadPool(null, claim.text, claim.member, claim.signature);
  return isValid ? null : "invalid_signature";
}

/** The same, on the calling thread. */
export function verifyVoteSync(
  signed: SignedVote,
  memberOf: MemberKeys,
  venueId: string,
): VoteProblem | null {
  const claim = claimOf(signed, memberOf, venueId);
  if (typeof claim === "string") return claim;
  const isValid = verify(null, claim.text, claim.member, claim.signature);
  return isValid ? null : "invalid_signature";
}

interface SignatureClaim {
  readonly text: Uint8Array;
  readonly member: KeyObject;
  readonly signature: Uint8Array;
}

/** The signature to verify, or why the vote is invalid without verifying it. */
function claimOf(
  { vote, signature }: SignedVote,
  memberOf: MemberKeys,
  venueId: string,
): SignatureClaim | VoteProblem {
  if (!isWellFormedVote(vote)) return "malformed";
  if (vote.venue !== venueId) return "other_venue";
  const member = memberOf(vote.attestor);
  if (member === undefined) return "attestor_unknown";
  if (!/^[0-9a-f]{128}$/.test(signature)) return "invalid_signature";
  return { text: voteBytes(vote), member, signature: Buffer.from(signature, "hex") };
}
