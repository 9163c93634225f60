/**
 * The text that a vote signs: ASCII lines, so that anyone can check a published vote with any Ed25519
 * tool. No field can contain a line break, and each vote has exactly one text: `parseVote` returns
 * undefined for any other. Signing and verifying need a crypto library and are not here.
 */

import { MAX_VOTE_PARTS } from "../markets/rules.js";
import { CHAINS, TOKENS, VERDICTS } from "../markets/wire-names.js";
import { isCount } from "../numbers/integers.js";
import { MAX_CREDITS_PER_VOTE, type Vote, type VoteCredit, type VoteToken } from "./vote.js";
import { isAddress, isHash, isReasoned, linesOf, wordOf } from "./vote-fields.js";

export const VOTE_FORMAT = "perpgate deposit vote v2";

/** The lines of a well-formed vote, each ended by a line feed. */
export function voteText(vote: Vote): string {
  if (!isWellFormedVote(vote)) throw new RangeError(`malformed vote on deposit ${vote.depositId}`);
  const block = vote.block === null ? "-" : `${vote.block.number} ${vote.block.hash}`;
  const lines = [
    VOTE_FORMAT,
    `venue ${vote.venue}`,
    `attestor ${vote.attestor}`,
    `deposit ${vote.depositId}`,
    `transaction ${vote.chain} ${vote.chainId} ${vote.txHash}`,
    `vault ${vote.vault}`,
    ...vote.tokens.map(({ token, contract }) => `token ${token} ${contract}`),
    `verdict ${vote.verdict}`,
    `confirmations ${vote.confirmations} of ${vote.required}`,
    `block ${block}`,
    `part ${vote.part} of ${vote.parts}`,
    ...vote.credits.map(
      ({ logIndex, token, address, amountMicros }) =>
        `credit ${logIndex} ${token} ${address} ${amountMicros}`,
    ),
    `reason ${vote.reason === "" ? "-" : vote.reason}`,
    `time ${vote.votedAtMs}`,
  ];
  return `${lines.join("\n")}\n`;
}

const SHAPE = new RegExp(
  `^${VOTE_FORMAT}\\nvenue ([0-9a-f]{64})\\nattestor (\\d+)\\ndeposit (\\d+)\\n` +
    "transaction (ethereum|arbitrum|tron) (\\d+) ([0-9a-f]{64})\\nvault ([0-9a-f]{40})\\n" +
    "((?:token (?:USDC|USDT) [0-9a-f]{40}\\n){1,2})" +
    "verdict (confirming|credit|reject|reorged)\\nconfirmations (\\d+) of (\\d+)\\n" +
    "block (?:-|(\\d+) ([0-9a-f]{64}))\\npart (\\d+) of (\\d+)\\n" +
    "((?:credit \\d+ (?:USDC|USDT) [0-9a-f]{40} \\d+\\n)*)" +
    "reason (-|[a-z][a-z0-9_]*)\\ntime (\\d+)\\n$",
);

/** The vote that has exactly this text, or undefined. */
export function parseVote(text: string): Vote | undefined {
  const found = SHAPE.exec(text);
  if (found === null) return undefined;
  const [, venue = "", attestor, depositId, chain, chainId, txHash = "", vault = "", ...rest] =
    found;
  const [tokens = "", verdict, confirmations, required, blockNumber, blockHash, ...last] = rest;
  const [part, parts, credits = "", reason = "", time] = last;
  const vote: Vote = {
    venue,
    attestor: Number(attestor),
    depositId: Number(depositId),
    chain: wordOf(CHAINS, chain),
    chainId: Number(chainId),
    txHash,
    vault,
    tokens: linesOf(tokens).map(tokenOfLine),
    verdict: wordOf(VERDICTS, verdict),
    confirmations: Number(confirmations),
    required: Number(required),
    block: blockHash === undefined ? null : { number: Number(blockNumber), hash: blockHash },
    part: Number(part),
    parts: Number(parts),
    credits: linesOf(credits).map(creditOfLine),
    reason: reason === "-" ? "" : reason,
    votedAtMs: Number(time),
  };
  // Rejects leading zeros and numbers beyond 2^53.
  return isWellFormedVote(vote) && voteText(vote) === text ? vote : undefined;
}

export function isWellFormedVote(vote: Vote): boolean {
  const counts = [
    vote.attestor,
    vote.depositId,
    vote.chainId,
    vote.confirmations,
    vote.required,
    vote.votedAtMs,
    vote.block?.number ?? 0,
  ];
  return (
    counts.every(isCount) &&
    isHash(vote.venue) &&
    CHAINS.includes(vote.chain) &&
    isAddress(vote.vault) &&
    isTokens(vote.tokens) &&
    VERDICTS.includes(vote.verdict) &&
    isHash(vote.txHash) &&
    (vote.block === null || isHash(vote.block.hash)) &&
    isReasoned(vote) &&
    isPart(vote) &&
    isCredits(vote)
  );
}

function tokenOfLine(line: string): VoteToken {
  const [, token, contract = ""] = line.split(" ");
  return { token: wordOf(TOKENS, token), contract };
}

function creditOfLine(line: string): VoteCredit {
  const [, logIndex, token, address = "", amountMicros] = line.split(" ");
  return {
    logIndex: Number(logIndex),
    token: wordOf(TOKENS, token),
    address,
    amountMicros: Number(amountMicros),
  };
}

function isTokens(tokens: readonly VoteToken[]): boolean {
  const order = tokens.map(({ token }) => TOKENS.indexOf(token));
  return (
    tokens.length > 0 &&
    order.every((place, i) => place >= 0 && (i === 0 || place > order[i - 1]!)) &&
    tokens.every(({ contract }) => isAddress(contract))
  );
}

function isPart({ verdict, part, parts }: Vote): boolean {
  if (verdict !== "credit") return part === 1 && parts === 1;
  return isCount(part) && isCount(parts) && part >= 1 && part <= parts && parts <= MAX_VOTE_PARTS;
}

function isCredits({ verdict, credits, tokens }: Vote): boolean {
  return (
    (verdict === "credit") === credits.length > 0 &&
    credits.length <= MAX_CREDITS_PER_VOTE &&
    credits.every(
      ({ logIndex, token, address, amountMicros }, i) =>
        isCount(logIndex) &&
        (i === 0 || logIndex > credits[i - 1]!.logIndex) &&
        tokens.some((entry) => entry.token === token) &&
        isAddress(address) &&
        isCount(amountMicros) &&
        amountMicros > 0,
    )
  );
}
