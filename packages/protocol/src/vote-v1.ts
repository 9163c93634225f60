/**
 * Votes of format 1, found in logs of older versions. They bind the venue's name and the token of the
 * registration, but not Genesis, chain id, vault or contract. No new ones are accepted; they are read
 * so that old votes can still be shown and verified (docs/adr/0071-vote-format-2.md).
 */

import type { Chain, Token } from "./deposit.js";
import type { VoteBlock, VoteStatement } from "./vote.js";
import { isAddress, isCount, isHash, isReasoned, linesOf, wordOf } from "./vote-fields.js";
import { CHAINS, TOKENS, VERDICTS } from "./wire-names.js";

export interface VoteV1Credit {
  readonly logIndex: number;
  /** The sender in the log, 40 lower-case hex digits. */
  readonly address: string;
  readonly amountMicros: number;
}

export interface VoteV1
  extends Pick<VoteStatement, "verdict" | "confirmations" | "required" | "reason"> {
  readonly credits: readonly VoteV1Credit[];
  readonly venue: string;
  readonly attestor: number;
  readonly depositId: number;
  readonly chain: Chain;
  readonly txHash: string;
  readonly token: Token;
  /** The block in which the transaction was seen; null if it was seen in none. */
  readonly block: VoteBlock | null;
  /** Unix milliseconds by the attestor's clock: a later vote replaces an earlier one. */
  readonly votedAtMs: number;
}

const FORMAT = "perpgate deposit vote v1";

/** For verification and tests; no new vote has this text. */
export function voteV1Text(vote: VoteV1): string {
  if (!isWellFormedVoteV1(vote))
    throw new RangeError(`malformed vote on deposit ${vote.depositId}`);
  const block = vote.block === null ? "-" : `${vote.block.number} ${vote.block.hash}`;
  const lines = [
    FORMAT,
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
  return `${lines.join("\n")}\n`;
}

const SHAPE = new RegExp(
  `^${FORMAT}\\nvenue (\\S+)\\nattestor (\\d+)\\ndeposit (\\d+)\\n` +
    "transaction (ethereum|arbitrum|tron) ([0-9a-f]{64})\\ntoken (USDC|USDT)\\n" +
    "verdict (confirming|credit|reject|reorged)\\nconfirmations (\\d+) of (\\d+)\\n" +
    "block (?:-|(\\d+) ([0-9a-f]{64}))\\n((?:credit \\d+ [0-9a-f]{40} \\d+\\n)*)" +
    "reason (-|[a-z][a-z0-9_]*)\\ntime (\\d+)\\n$",
);

/** The vote that has exactly this text, or undefined. */
export function parseVoteV1(text: string): VoteV1 | undefined {
  const parts = SHAPE.exec(text);
  if (parts === null) return undefined;
  const [, venue = "", attestor, depositId, chain, txHash = "", token, verdict, ...rest] = parts;
  const [confirmations, required, blockNumber, blockHash, credits = "", reason = "", time] = rest;
  const vote = {
    venue,
    attestor: Number(attestor),
    depositId: Number(depositId),
    chain: wordOf(CHAINS, chain),
    txHash,
    token: wordOf(TOKENS, token),
    verdict: wordOf(VERDICTS, verdict),
    confirmations: Number(confirmations),
    required: Number(required),
    block: blockHash === undefined ? null : { number: Number(blockNumber), hash: blockHash },
    credits: linesOf(credits).map(creditOf),
    reason: reason === "-" ? "" : reason,
    votedAtMs: Number(time),
  };
  // Rejects leading zeros and numbers beyond 2^53.
  return isWellFormedVoteV1(vote) && voteV1Text(vote) === text ? vote : undefined;
}

export function isWellFormedVoteV1(vote: VoteV1): boolean {
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
    CHAINS.includes(vote.chain) &&
    TOKENS.includes(vote.token) &&
    VERDICTS.includes(vote.verdict) &&
    isHash(vote.txHash) &&
    (vote.block === null || isHash(vote.block.hash)) &&
    isReasoned(vote) &&
    (vote.verdict === "credit") === vote.credits.length > 0 &&
    vote.credits.every(isCredit) &&
    vote.credits.every((credit, i) => i === 0 || credit.logIndex > vote.credits[i - 1]!.logIndex)
  );
}

function creditOf(line: string): VoteV1Credit {
  const [, logIndex, address = "", amountMicros] = line.split(" ");
  return { logIndex: Number(logIndex), address, amountMicros: Number(amountMicros) };
}

function isCredit({ logIndex, address, amountMicros }: VoteV1Credit): boolean {
  return isCount(logIndex) && isCount(amountMicros) && amountMicros > 0 && isAddress(address);
}
