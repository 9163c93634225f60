/**
 * Takes the votes of remote attestors, and gives them their queue. Anyone may submit a vote, because
 * its signature authorises it; submitting it again changes nothing. Only members may read the queue: a
 * request is signed with a member's key and valid for a minute.
 *
 * Each member has a budget of votes, because every new vote grows the log.
 */

import { type KeyObject, verify } from "node:crypto";
import { promisify } from "node:util";
import { publicKeyHex } from "@perpgate/bridge";
import type {
  CreditedDeposit,
  DepositPage,
  DepositQueue,
  DepositQueueBody,
  OwnVote,
  PendingDeposit,
  QueuedDeposit,
  Reserves,
  SubmittedVote,
  Vote,
} from "@perpgate/protocol";
import {
  ApiError,
  bytesFromHex,
  HOLDINGS_FORMAT,
  type Holdings,
  parseHoldings,
  parseVote,
  parseWithdrawalVote,
  WITHDRAWAL_VOTE_FORMAT,
  type WithdrawalVote,
} from "@perpgate/protocol/core";
import type { Attestation, SignedQueueRequest, Venue } from "@perpgate/venue";
import { bridgeInfoOf } from "./bridge-info.js";
import { VaultHoldings } from "./vault-holdings.js";
import type { VenueDeposits } from "./venue-deposits.js";
import { VoteBudget } from "./vote-budget.js";

const REQUEST_WINDOW_MS = 60_000;
const verifyInPool = promisify(verify);

type Submitted = Vote | WithdrawalVote | Holdings;

function parsed(text: string): Submitted | undefined {
  if (text.startsWith(`${WITHDRAWAL_VOTE_FORMAT}\n`)) return parseWithdrawalVote(text);
  if (text.startsWith(`${HOLDINGS_FORMAT}\n`)) return parseHoldings(text);
  return parseVote(text);
}

export class VoteIntake implements Attestation {
  private readonly vaults: VaultHoldings;

  constructor(
    private readonly venue: Venue,
    private readonly deposits: VenueDeposits,
    private readonly budget = new VoteBudget(),
  ) {
    this.vaults = new VaultHoldings(venue, deposits);
  }

  info(): ReturnType<Attestation["info"]> {
    const { keys, history, chains } = this.deposits;
    const { paused } = this.venue.views.attestation;
    return bridgeInfoOf({ keys, history, chains, paused });
  }

  async accept(submitted: readonly SubmittedVote[]): Promise<readonly (string | null)[]> {
    const votes = submitted.map(({ text }, index) => this.read(text, index));
    const refusals: (string | null)[] = [];
    for (const [i, vote] of votes.entries()) {
      const signature = submitted[i]?.signature ?? "";
      const refusal = await this.submit(vote, signature);
      // A forged vote ends the request; the votes after it are not checked.
      if (refusal === "invalid_signature") throw this.invalidSignature(vote.attestor);
      refusals.push(refusal);
    }
    return refusals;
  }

  async queue({ body, bytes, signature }: SignedQueueRequest): Promise<DepositQueue> {
    const { attestor, venue, time } = body;
    const member = this.memberOf(attestor);
    // Remote attestors use their wall clock.
    const nowMs = this.venue.wallMs();
    if (venue !== this.deposits.history.venueId || Math.abs(time - nowMs) > REQUEST_WINDOW_MS) {
      const seconds = REQUEST_WINDOW_MS / 1_000;
      throw new ApiError("attestor_request_outdated", { seconds, nowMs });
    }
    const proof = /^[0-9a-fA-F]{128}$/.test(signature ?? "") ? bytesFromHex(signature ?? "") : null;
    if (!proof || !(await verifyInPool(null, bytes, member, proof))) {
      throw this.invalidSignature(attestor);
    }
    return this.page(body);
  }

  holdings(): Reserves["vaults"] {
    return this.vaults.list();
  }

  private async submit(vote: Submitted, signature: string): Promise<string | null> {
    if ("statedAtMs" in vote) {
      return this.vaults.take(vote, signature, () => this.budget.take(vote.attestor));
    }
    if ("withdrawalId" in vote) {
      return this.deposits.submitOnWithdrawal(vote, signature, this.budget);
    }
    const [refusal = null] = await this.deposits.submit([{ vote, signature }], this.budget);
    return refusal;
  }

  private read(text: string, index: number): Submitted {
    const vote = parsed(text);
    if (vote === undefined) {
      throw new ApiError("invalid_vote", { index, problem: "its text is not that of a vote" });
    }
    if (vote.venue !== this.deposits.history.venueId) {
      throw new ApiError("invalid_vote", { index, problem: `it is for ${vote.venue}` });
    }
    this.memberOf(vote.attestor);
    return vote;
  }

  private memberOf(attestor: number): KeyObject {
    const member = this.deposits.memberOf(attestor);
    if (member === undefined) throw new ApiError("attestor_unknown", { attestor });
    return member;
  }

  private invalidSignature(attestor: number): ApiError {
    const fingerprint = publicKeyHex(this.memberOf(attestor));
    return new ApiError("invalid_signature", { kind: "ed25519", fingerprint });
  }

  private page(body: DepositQueueBody): DepositQueue {
    const { attestor, chain, queue, order, since } = body;
    const after = Number(body.after);
    const { rows, next } =
      queue === "pending"
        ? pendingRows(this.deposits.pending(chain, attestor, order, after))
        : creditedRows(this.deposits.credited(chain, attestor, since, after));
    return { deposits: rows, next: next === null ? null : String(next) };
  }
}

interface WirePage {
  readonly rows: QueuedDeposit[];
  readonly next: number | null;
}

function pendingRows({ rows, next }: DepositPage<PendingDeposit>): WirePage {
  return {
    next,
    rows: rows.map((deposit) => ({
      depositId: String(deposit.depositId),
      txHash: deposit.txHash,
      account: deposit.account,
      status: deposit.status,
      creditedParts: deposit.creditedParts,
      ...lastLogIn(deposit),
      registeredAt: deposit.registeredAtMs,
      creditedAt: null,
      credits: [],
      isMarked: false,
      ownVote: deposit.ownVote === null ? null : statementOf(deposit.ownVote),
    })),
  };
}

function lastLogIn({ lastCreditedLog }: PendingDeposit): Pick<QueuedDeposit, "lastCreditedLog"> {
  return lastCreditedLog === undefined ? {} : { lastCreditedLog };
}

function creditedRows({ rows, next }: DepositPage<CreditedDeposit>): WirePage {
  return {
    next,
    rows: rows.map((deposit) => ({
      depositId: String(deposit.depositId),
      txHash: deposit.txHash,
      account: 0,
      status: "credited",
      creditedParts: 0,
      registeredAt: 0,
      creditedAt: deposit.creditedAtMs,
      credits: creditsOf(deposit.credits),
      isMarked: deposit.isMarked,
      ownVote: deposit.ownVote === null ? null : statementOf(deposit.ownVote),
    })),
  };
}

function statementOf(vote: OwnVote): NonNullable<QueuedDeposit["ownVote"]> {
  const { verdict, confirmations, required, credits, reason, part = 1, parts = 1 } = vote;
  const statement = { verdict, confirmations, required, reason, part, parts };
  return { ...statement, credits: creditsOf(credits) };
}

function creditsOf(credits: OwnVote["credits"]): QueuedDeposit["credits"] {
  return credits.map(({ logIndex, address, amountMicros, token }) => {
    const entry = { logIndex, address, amountMicros };
    return token === "USDC" || token === "USDT" ? { ...entry, token } : entry;
  });
}
