/**
 * The desk for attestors that run elsewhere. Anyone may hand in a vote, since its signature is what
 * authorises it, and handing in the same one twice changes nothing. What there is to vote on is told
 * to members alone: a request is signed by a member's key and good for a minute.
 *
 * A member that floods the venue with ever newer votes fills the log; so each has a budget.
 */

import { type KeyObject, verify } from "node:crypto";
import { promisify } from "node:util";
import { type ChainBridgeConfig, publicKeyHex } from "@perpgate/bridge";
import type { AttestationDesk, Signed } from "@perpgate/gateway";
import {
  type BridgeInfo,
  bytesFromHex,
  type DepositQueue,
  type DepositQueueBody,
  parseVote,
  type QueuedDeposit,
  Refusal,
  type SubmittedVote,
  type Vote,
} from "@perpgate/protocol";
import type { Venue } from "@perpgate/venue";
import { bridgeInfoOf } from "./bridge-info.js";
import type { VenueDeposits } from "./venue-deposits.js";
import { VoteBudget } from "./vote-budget.js";

const REQUEST_WINDOW_MS = 60_000;
const PAGE_DEPOSITS = 500;
const verifyAside = promisify(verify);

export class VotesDesk implements AttestationDesk {
  readonly info: BridgeInfo;
  constructor(
    private readonly venue: Venue,
    private readonly deposits: VenueDeposits,
    private readonly config: ChainBridgeConfig,
    private readonly budget = new VoteBudget(),
  ) {
    this.info = bridgeInfoOf(config);
  }

  async accept(submitted: readonly SubmittedVote[]): Promise<readonly (string | null)[]> {
    const votes = submitted.map(({ text }, index) => this.read(text, index));
    const refusals: (string | null)[] = [];
    for (const [i, vote] of votes.entries()) {
      const signature = submitted[i]?.signature ?? "";
      const [refusal = null] = await this.deposits.submit([{ vote, signature }], this.budget);
      // Whoever forges is told once, and the rest of what they sent is not looked at.
      if (refusal === "invalid_signature") throw this.invalidSignature(vote.attestor);
      refusals.push(refusal);
    }
    return refusals;
  }

  async queue({ body, bytes, signature }: Signed<DepositQueueBody>): Promise<DepositQueue> {
    const { attestor, venue, time } = body;
    const member = this.memberOf(attestor);
    const nowMs = this.venue.nowMs();
    if (venue !== this.config.venue || Math.abs(time - nowMs) > REQUEST_WINDOW_MS) {
      const seconds = REQUEST_WINDOW_MS / 1_000;
      throw new Refusal("attestor_request_outdated", { seconds, nowMs });
    }
    const proof = /^[0-9a-fA-F]{128}$/.test(signature ?? "") ? bytesFromHex(signature ?? "") : null;
    if (!proof || !(await verifyAside(null, bytes, member, proof))) {
      throw this.invalidSignature(attestor);
    }
    return pageOf(this.queued(body), Number(body.after));
  }

  private read(text: string, index: number): Vote {
    const vote = parseVote(text);
    if (vote === undefined) {
      throw new Refusal("invalid_vote", { index, problem: "its text is not that of a vote" });
    }
    if (vote.venue !== this.config.venue) {
      throw new Refusal("invalid_vote", { index, problem: `it is for ${vote.venue}` });
    }
    this.memberOf(vote.attestor);
    return vote;
  }

  private memberOf(attestor: number): KeyObject {
    const member = this.config.members[attestor];
    if (member === undefined) throw new Refusal("attestor_unknown", { attestor });
    return member;
  }

  private invalidSignature(attestor: number): Refusal {
    const fingerprint = publicKeyHex(this.memberOf(attestor));
    return new Refusal("invalid_signature", { kind: "ed25519", fingerprint });
  }

  private queued({ attestor, chain, queue, since }: DepositQueueBody): QueuedDeposit[] {
    if (queue === "pending") {
      return this.deposits.pending(chain, attestor).map((deposit) => ({
        depositId: String(deposit.depositId),
        txHash: deposit.txHash,
        token: deposit.token,
        status: deposit.status,
        registeredAt: deposit.registeredAtMs,
        creditedAt: null,
        credits: [],
        isMarked: false,
        ownVote: deposit.ownVote === null ? null : statementOf(deposit.ownVote),
      }));
    }
    return this.deposits.credited(chain, since, attestor).map((deposit) => ({
      depositId: String(deposit.depositId),
      txHash: deposit.txHash,
      token: deposit.token,
      status: "credited",
      registeredAt: 0,
      creditedAt: deposit.creditedAtMs,
      credits: [...deposit.credits],
      isMarked: deposit.isMarked,
      ownVote: null,
    }));
  }
}

function statementOf(
  vote: NonNullable<ReturnType<VenueDeposits["pending"]>[number]["ownVote"]>,
): NonNullable<QueuedDeposit["ownVote"]> {
  const { verdict, confirmations, required, credits, reason } = vote;
  return { verdict, confirmations, required, credits: [...credits], reason };
}

/** By number: a deposit that is opened again meanwhile is neither told twice nor passed over. */
function pageOf(deposits: readonly QueuedDeposit[], after: number): DepositQueue {
  const rest = deposits
    .filter(({ depositId }) => Number(depositId) > after)
    .sort((a, b) => Number(a.depositId) - Number(b.depositId));
  const page = rest.slice(0, PAGE_DEPOSITS);
  const isLast = page.length === rest.length;
  return { deposits: page, next: isLast ? null : (page.at(-1)?.depositId ?? null) };
}
