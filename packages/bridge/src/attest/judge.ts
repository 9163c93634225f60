/**
 * Derives the attestor's statement from what the endpoints agree on. Credits and rejections need the
 * required confirmations: a transaction that failed in one fork can succeed in another.
 */

import type { OwnVote, PendingDeposit } from "@perpgate/protocol";
import { MAX_CREDITS_PER_VOTE } from "@perpgate/protocol/core";
import type { EndpointAgreement } from "../chain/agreement.js";
import type { ChainReceipt } from "../chain/receipt.js";
import type { ChainConfig } from "../config/chain-config.js";
import { type BlockReference, isSameOutcome, type Statement, type VoteCredit } from "../vote.js";
import { type Dust, hasSameLogs, transfersIn } from "./transfers.js";

interface Judgement {
  readonly statement: Statement;
  readonly block: BlockReference | null;
  readonly dust: readonly Dust[];
}

/** Progress is voted on in at most this number of steps, to limit the size of the log. */
const PROGRESS_STEPS = 8;

/** The next statement, or null if it is unknown, undecided, or equal to the last vote. */
export function judgeTransaction(
  deposit: PendingDeposit,
  agreement: EndpointAgreement,
  config: ChainConfig,
): Judgement | null {
  const judgement = judgementOn(deposit, agreement, config);
  if (judgement === null) return null;
  return isNew(judgement.statement, deposit.ownVote) ? judgement : null;
}

function judgementOn(
  deposit: PendingDeposit,
  agreement: EndpointAgreement,
  config: ChainConfig,
): Judgement | null {
  const required = config.confirmations;
  if (agreement.kind === "silent" || agreement.kind === "disagreed") return null;
  if (agreement.kind === "unknown") {
    // By the chain's time: a node that lags may not know the transaction yet.
    if (deposit.creditedParts > 0) return null;
    const isOverdue = agreement.headTimeMs - deposit.registeredAtMs >= config.notFoundAfterMs;
    if (isOverdue)
      return { statement: reject(0, required, "transaction_not_found"), ...IN_NO_BLOCK };
    // Never seen: stays queued. Seen before: back to 0 confirmations.
    if (deposit.ownVote === null) return null;
    return { statement: confirming(0, required), ...IN_NO_BLOCK };
  }
  const { receipt } = agreement;
  const block = { number: receipt.blockNumber, hash: receipt.blockHash };
  const confirmations = Math.min(agreement.confirmations, required);
  if (confirmations < required) {
    return { statement: confirming(confirmations, required), block, dust: [] };
  }
  const transfers = transfersIn(receipt, config);
  if (transfers.credits === null) {
    // A partly credited deposit is never rejected; the watch reports a removed transaction.
    if (deposit.creditedParts > 0) return null;
    return { statement: reject(confirmations, required, transfers.reason), block, dust: [] };
  }
  const { credits, dust } = transfers;
  const left = creditsLeft(deposit, credits, receipt);
  // Nothing more to credit by the terms of now; the engine ends a deposit only with a credit.
  if (left.length === 0) return null;
  const part = deposit.creditedParts + 1;
  const parts = deposit.creditedParts + Math.ceil(left.length / MAX_CREDITS_PER_VOTE);
  return {
    statement: {
      verdict: "credit",
      confirmations,
      required,
      credits: left.slice(0, MAX_CREDITS_PER_VOTE),
      reason: "",
      part,
      parts,
    },
    block,
    dust: part === 1 ? dust : [],
  };
}

/**
 * The logs after those of the credited parts. Another smallest deposit or token since the last part
 * changes how many logs qualify before them, another block changes their indexes. Where neither the
 * place nor the number of the credited logs is certain, nothing is left: a transfer must not be credited
 * under two indexes.
 */
function creditsLeft(
  { creditedParts, lastCreditedLog, ownVote }: PendingDeposit,
  credits: readonly VoteCredit[],
  receipt: ChainReceipt,
): readonly VoteCredit[] {
  const end = creditedParts * MAX_CREDITS_PER_VOTE;
  const afterCount = credits.slice(end);
  // A venue of an earlier release does not say where.
  if (lastCreditedLog === undefined || credits[end - 1]?.logIndex === lastCreditedLog) {
    return afterCount;
  }
  // The own vote on the last credited part names its logs.
  if (ownVote?.verdict !== "credit" || (ownVote.part ?? 1) !== creditedParts) return [];
  if (hasSameLogs(receipt, ownVote.credits)) {
    return credits.filter(({ logIndex }) => logIndex > lastCreditedLog);
  }
  const lastPart = credits.slice(end - MAX_CREDITS_PER_VOTE, end);
  return areSameTransfers(lastPart, ownVote.credits) ? afterCount : [];
}

function areSameTransfers(some: readonly VoteCredit[], others: OwnVote["credits"]): boolean {
  return (
    some.length === others.length &&
    some.every(({ address, amountMicros }, at) => {
      const other = others[at];
      return other?.address === address && other.amountMicros === amountMicros;
    })
  );
}

const WHOLE = { part: 1, parts: 1 } as const;
const IN_NO_BLOCK = { block: null, dust: [] } as const;

function confirming(confirmations: number, required: number): Statement {
  return { ...WHOLE, verdict: "confirming", confirmations, required, credits: [], reason: "" };
}

function reject(confirmations: number, required: number, reason: string): Statement {
  return { ...WHOLE, verdict: "reject", confirmations, required, credits: [], reason };
}

function isNew(next: Statement, last: OwnVote | null): boolean {
  if (last === null || next.required !== last.required || !isSameOutcome(next, last)) return true;
  if (next.verdict !== "confirming") return false;
  const gained = next.confirmations - last.confirmations;
  return gained < 0 || gained >= Math.ceil(next.required / PROGRESS_STEPS);
}
