/**
 * A vote: what one attestor says about one deposit, and the bytes that it signs.
 *
 * The bytes are ASCII lines, so that anyone can write them down from a published vote and check
 * the signature with any Ed25519 tool. Every field is restricted to characters that cannot end a
 * line. The venue's name is part of them: a vote for a testnet says nothing on another venue.
 */

import { type KeyObject, sign, verify } from "node:crypto";
import { promisify } from "node:util";
import { bytesFromHex, type Chain, hexFromBytes, type Token } from "@perpgate/protocol";

/** `reorged` is said of a credited deposit only; the others before it is settled. */
export type Verdict = "confirming" | "credit" | "reject" | "reorged";

export interface VoteCredit {
  readonly logIndex: number;
  /** The sender in the log, 40 lower-case hex digits, on every chain. */
  readonly address: string;
  readonly amountMicros: number;
}

/** The part of a vote on which attestors must agree, and its progress. */
export interface Statement {
  readonly verdict: Verdict;
  /** Never more than `required`. */
  readonly confirmations: number;
  readonly required: number;
  /** For `credit`: each matching log, ascending. */
  readonly credits: readonly VoteCredit[];
  /** For `reject` and `reorged`: why, a snake_case word; otherwise empty. */
  readonly reason: string;
}

export interface BlockReference {
  readonly number: number;
  /** 64 lower-case hex digits. */
  readonly hash: string;
}

export interface Vote extends Statement {
  readonly venue: string;
  readonly attestor: number;
  readonly depositId: number;
  readonly chain: Chain;
  readonly txHash: string;
  readonly token: Token;
  /** The block in which the transaction was seen; null if it was seen in none. */
  readonly block: BlockReference | null;
  /** Unix milliseconds by the attestor's clock: a later vote replaces an earlier one. */
  readonly votedAtMs: number;
}

export interface SignedVote {
  readonly vote: Vote;
  /** Ed25519 over `voteBytes(vote)`, 128 lower-case hex digits. */
  readonly signature: string;
}

export const VOTE_FORMAT = "perpgate deposit vote v1";

export type VoteProblem = "malformed" | "other_venue" | "attestor_unknown" | "invalid_signature";

/** On the thread pool: a thousand votes must not hold up the orders on this thread. */
const signAside = promisify(
  (algorithm: null, data: Uint8Array, key: KeyObject, done: (e: Error | null, b: Buffer) => void) =>
    sign(algorithm, data, key, done),
);
const verifyAside = promisify(verify);

/** The canonical bytes of a well-formed vote. */
export function voteBytes(vote: Vote): Uint8Array {
  if (!isWellFormed(vote)) throw new RangeError(`malformed vote on deposit ${vote.depositId}`);
  const block = vote.block === null ? "-" : `${vote.block.number} ${vote.block.hash}`;
  const lines = [
    VOTE_FORMAT,
    `venue ${vote.venue}`,
    `attestor ${vote.attestor}`,
    `deposit ${vote.depositId}`,
    `transaction ${vote.chain} ${vote.txHash}`,
    `token ${vote.token}`,
    `verdict ${vote.verdict}`,
    `confirmations ${vote.confirmations} of ${vote.required}`,
    `block ${block}`,
    ...vote.credits.map(
      ({ logIndex, address, amountMicros }) => `credit ${logIndex} ${address} ${amountMicros}`,
    ),
    `reason ${vote.reason === "" ? "-" : vote.reason}`,
    `time ${vote.votedAtMs}`,
  ];
  return Buffer.from(`${lines.join("\n")}\n`, "latin1");
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
  if (!isWellFormed(vote)) return "malformed";
  if (vote.venue !== venue) return "other_venue";
  const member = members[vote.attestor];
  if (member === undefined) return "attestor_unknown";
  const bytes = /^[0-9a-f]{128}$/.test(signature) ? bytesFromHex(signature) : undefined;
  if (bytes === undefined) return "invalid_signature";
  const isValid = await verifyAside(null, voteBytes(vote), member, bytes);
  return isValid ? null : "invalid_signature";
}

/** Whether two statements say the same about the outcome; progress left out. */
export function isSameOutcome(a: Statement, b: Statement): boolean {
  return (
    a.verdict === b.verdict &&
    a.reason === b.reason &&
    a.credits.length === b.credits.length &&
    a.credits.every((credit, i) => {
      const other = b.credits[i];
      return (
        other !== undefined &&
        credit.logIndex === other.logIndex &&
        credit.address === other.address &&
        credit.amountMicros === other.amountMicros
      );
    })
  );
}

function isWellFormed(vote: Vote): boolean {
  const counts = [
    vote.attestor,
    vote.depositId,
    vote.confirmations,
    vote.required,
    vote.votedAtMs,
    vote.block?.number ?? 0,
  ];
  return (
    counts.every(isCount) &&
    /^[A-Za-z0-9._:-]{1,64}$/.test(vote.venue) &&
    /^(?:ethereum|arbitrum|tron)$/.test(vote.chain) &&
    /^(?:USDC|USDT)$/.test(vote.token) &&
    /^(?:confirming|credit|reject|reorged)$/.test(vote.verdict) &&
    isHash(vote.txHash) &&
    (vote.block === null || isHash(vote.block.hash)) &&
    isReasoned(vote) &&
    (vote.verdict === "credit") === vote.credits.length > 0 &&
    vote.credits.every(isCredit) &&
    vote.credits.every((credit, i) => i === 0 || credit.logIndex > vote.credits[i - 1]!.logIndex)
  );
}

function isReasoned({ verdict, reason }: Vote): boolean {
  const needsReason = verdict === "reject" || verdict === "reorged";
  return needsReason ? /^[a-z][a-z0-9_]{0,63}$/.test(reason) : reason === "";
}

function isCredit({ logIndex, address, amountMicros }: VoteCredit): boolean {
  return (
    isCount(logIndex) && isCount(amountMicros) && amountMicros > 0 && /^[0-9a-f]{40}$/.test(address)
  );
}

function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
