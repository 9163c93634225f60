/**
 * What an attestor says about a withdrawal, as ASCII lines: signed with its Ed25519 key, so that anyone can
 * check a published vote with any tool. It binds the venue, the chain, the vault and every figure that the
 * vault pays by. Each vote has exactly one text: `parseWithdrawalVote` returns undefined for any other.
 */

import { CHAINS, TOKENS, WITHDRAWAL_VERDICTS } from "../markets/wire-names.js";
import { isCount } from "../numbers/integers.js";
import type { Chain, Token } from "./deposit.js";
import type { VoteBlock } from "./vote.js";
import { isAddress, isHash, wordOf } from "./vote-fields.js";

export type WithdrawalVerdict = (typeof WITHDRAWAL_VERDICTS)[number];

/** What is paid, and by whom; all attestors sign the same. */
export interface WithdrawalTerms {
  /** SHA-256 of the record that holds Genesis, 64 lower-case hex digits. */
  readonly venue: string;
  readonly withdrawalId: number;
  readonly chain: Chain;
  readonly chainId: number;
  /** Addresses: 40 lower-case hex digits. */
  readonly vault: string;
  readonly token: Token;
  readonly contract: string;
  readonly decimals: number;
  readonly account: string;
  /** In the token's smallest units. */
  readonly amount: bigint;
  /** Unix seconds. */
  readonly deadline: number;
}

export interface WithdrawalVote extends WithdrawalTerms {
  readonly attestor: number;
  readonly verdict: WithdrawalVerdict;
  /** Where it was seen; for `paid` and `unpaid` a finalized block. Null for `signed`. */
  readonly block: VoteBlock | null;
  /** For `pending` and `paid`: 64 lower-case hex digits; otherwise empty. */
  readonly txHash: string;
  /** For `signed`: the signature that the vault takes, 130 lower-case hex digits; otherwise empty. */
  readonly vaultSignature: string;
  /** Unix milliseconds by the attestor's clock: a later vote replaces an earlier one. */
  readonly votedAtMs: number;
}

/** A token with fewer has no micro-dollars. */
const MIN_DECIMALS = 6;
const MAX_DECIMALS = 24;

/** Micro-dollars in a token's smallest units; undefined for a token that cannot hold them. */
export function unitsOfMicros(micros: number, decimals: number): bigint | undefined {
  if (decimals < MIN_DECIMALS || decimals > MAX_DECIMALS) return undefined;
  return BigInt(micros) * 10n ** BigInt(decimals - MIN_DECIMALS);
}

export const WITHDRAWAL_VOTE_FORMAT = "perpgate withdrawal vote v1";

/** @throws RangeError for a malformed vote. */
export function withdrawalVoteText(vote: WithdrawalVote): string {
  if (!isWellFormed(vote)) {
    throw new RangeError(`malformed vote on withdrawal ${vote.withdrawalId}`);
  }
  const { block, txHash, vaultSignature } = vote;
  const lines = [
    WITHDRAWAL_VOTE_FORMAT,
    `venue ${vote.venue}`,
    `attestor ${vote.attestor}`,
    `withdrawal ${vote.withdrawalId}`,
    `vault ${vote.chain} ${vote.chainId} ${vote.vault}`,
    `token ${vote.token} ${vote.contract} ${vote.decimals}`,
    `account ${vote.account}`,
    `amount ${vote.amount}`,
    `deadline ${vote.deadline}`,
    `verdict ${vote.verdict}`,
    `block ${block === null ? "-" : `${block.number} ${block.hash}`}`,
    `transaction ${txHash === "" ? "-" : txHash}`,
    `signature ${vaultSignature === "" ? "-" : vaultSignature}`,
    `time ${vote.votedAtMs}`,
  ];
  return `${lines.join("\n")}\n`;
}

const SHAPE = new RegExp(
  `^${WITHDRAWAL_VOTE_FORMAT}\\nvenue ([0-9a-f]{64})\\nattestor (\\d{1,16})\\n` +
    "withdrawal (\\d{1,16})\\nvault (ethereum|arbitrum|tron) (\\d{1,16}) ([0-9a-f]{40})\\n" +
    "token (USDC|USDT) ([0-9a-f]{40}) (\\d{1,2})\\naccount ([0-9a-f]{40})\\namount (\\d{1,39})\\n" +
    "deadline (\\d{1,16})\\nverdict (signed|pending|paid|unpaid)\\n" +
    "block (?:-|(\\d{1,16}) ([0-9a-f]{64}))\\ntransaction (-|[0-9a-f]{64})\\n" +
    "signature (-|[0-9a-f]{130})\\ntime (\\d{1,16})\\n$",
);

/** The vote that has exactly this text, or undefined. */
export function parseWithdrawalVote(text: string): WithdrawalVote | undefined {
  const found = SHAPE.exec(text);
  if (found === null) return undefined;
  const [, venue = "", attestor, withdrawalId, chain, chainId, vault = "", ...figures] = found;
  const [token, contract = "", decimals, account = "", amount = "", ...last] = figures;
  const [deadline, verdict, number, hash, txHash = "", vaultSignature = "", time] = last;
  const vote: WithdrawalVote = {
    venue,
    attestor: Number(attestor),
    withdrawalId: Number(withdrawalId),
    chain: wordOf(CHAINS, chain),
    chainId: Number(chainId),
    vault,
    token: wordOf(TOKENS, token),
    contract,
    decimals: Number(decimals),
    account,
    amount: BigInt(amount),
    deadline: Number(deadline),
    verdict: wordOf(WITHDRAWAL_VERDICTS, verdict),
    block: hash === undefined ? null : { number: Number(number), hash },
    txHash: txHash === "-" ? "" : txHash,
    vaultSignature: vaultSignature === "-" ? "" : vaultSignature,
    votedAtMs: Number(time),
  };
  // Rejects leading zeros and numbers beyond 2^53.
  return isWellFormed(vote) && withdrawalVoteText(vote) === text ? vote : undefined;
}

function isWellFormed(vote: WithdrawalVote): boolean {
  const { verdict, block, txHash, vaultSignature } = vote;
  const counts = [vote.attestor, vote.withdrawalId, vote.chainId, vote.deadline, vote.votedAtMs];
  const { decimals } = vote;
  const hasTransaction = verdict === "pending" || verdict === "paid";
  return (
    [...counts, block?.number ?? 0].every(isCount) &&
    [vote.vault, vote.contract, vote.account].every(isAddress) &&
    isHash(vote.venue) &&
    isCount(decimals) &&
    decimals <= MAX_DECIMALS &&
    vote.amount > 0n &&
    vote.amount >> 128n === 0n &&
    (block === null) === (verdict === "signed") &&
    (block === null || isHash(block.hash)) &&
    (hasTransaction ? isHash(txHash) : txHash === "") &&
    (verdict === "signed" ? /^[0-9a-f]{130}$/.test(vaultSignature) : vaultSignature === "")
  );
}
