/**
 * A vote: what one attestor says about one deposit, and the text that it signs.
 *
 * The text is ASCII lines, so that anyone can check a published vote with any Ed25519 tool. Every
 * field is restricted to characters that cannot end a line, and a vote has one spelling: `parseVote`
 * answers undefined for every other. The venue's name is part of it: a vote for a testnet says
 * nothing on another venue. Signing and checking need a crypto library and are not here.
 */

import type { Chain, Token } from "./deposit.js";

/** `reorged` is said of a credited deposit only; the others before it is settled. */
export type VoteVerdict = "confirming" | "credit" | "reject" | "reorged";

export interface VoteCredit {
  readonly logIndex: number;
  /** The sender in the log, 40 lower-case hex digits, on every chain. */
  readonly address: string;
  readonly amountMicros: number;
}

/** The part of a vote on which attestors must agree, and its progress. */
export interface VoteStatement {
  readonly verdict: VoteVerdict;
  /** Never more than `required`. */
  readonly confirmations: number;
  readonly required: number;
  /** For `credit`: each matching log, ascending. */
  readonly credits: readonly VoteCredit[];
  /** For `reject` and `reorged`: why, a snake_case word; otherwise empty. */
  readonly reason: string;
}

export interface VoteBlock {
  readonly number: number;
  /** 64 lower-case hex digits. */
  readonly hash: string;
}

export interface Vote extends VoteStatement {
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

export const VOTE_FORMAT = "perpgate deposit vote v1";

/** The lines of a well-formed vote, each ended by a line feed. */
export function voteText(vote: Vote): string {
  if (!isWellFormedVote(vote)) throw new RangeError(`malformed vote on deposit ${vote.depositId}`);
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
  return `${lines.join("\n")}\n`;
}

const SHAPE = new RegExp(
  `^${VOTE_FORMAT}\\nvenue (\\S+)\\nattestor (\\d+)\\ndeposit (\\d+)\\n` +
    "transaction (ethereum|arbitrum|tron) ([0-9a-f]{64})\\ntoken (USDC|USDT)\\n" +
    "verdict (confirming|credit|reject|reorged)\\nconfirmations (\\d+) of (\\d+)\\n" +
    "block (?:-|(\\d+) ([0-9a-f]{64}))\\n((?:credit \\d+ [0-9a-f]{40} \\d+\\n)*)" +
    "reason (-|[a-z][a-z0-9_]*)\\ntime (\\d+)\\n$",
);

/** The vote that has exactly this text, or undefined. */
export function parseVote(text: string): Vote | undefined {
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
    credits: credits.split("\n").slice(0, -1).map(creditOf),
    reason: reason === "-" ? "" : reason,
    votedAtMs: Number(time),
  };
  // A leading zero, or a figure too large to be exact, is another spelling.
  return isWellFormedVote(vote) && voteText(vote) === text ? vote : undefined;
}

export function isWellFormedVote(vote: Vote): boolean {
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

/** Whether two statements say the same about the outcome; progress left out. */
export function isSameOutcome(a: VoteStatement, b: VoteStatement): boolean {
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

const CHAINS: readonly Chain[] = ["ethereum", "arbitrum", "tron"];
const TOKENS: readonly Token[] = ["USDC", "USDT"];
const VERDICTS: readonly VoteVerdict[] = ["confirming", "credit", "reject", "reorged"];

function wordOf<T extends string>(words: readonly T[], text: string | undefined): T {
  const found = words.find((word) => word === text);
  if (found === undefined) throw new RangeError(`no such word: ${text}`);
  return found;
}

function creditOf(line: string): VoteCredit {
  const [, logIndex, address = "", amountMicros] = line.split(" ");
  return { logIndex: Number(logIndex), address, amountMicros: Number(amountMicros) };
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
