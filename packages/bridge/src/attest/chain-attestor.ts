/**
 * One attestor on one chain. A poll reads what is pending, asks the chain's endpoints, and submits
 * what is new. It keeps nothing between polls that a restart could lose.
 */

import { setImmediate } from "node:timers/promises";
import type { BridgeObserver, ReorgReason } from "../bridge-event.js";
import { agreementOn } from "../chain/agreement.js";
import type { ChainView } from "../chain/chain-view.js";
import { EndpointPool } from "../chain/endpoint-pool.js";
import type { LocalAttestor } from "../config/bridge-config.js";
import type { ChainConfig } from "../config/chain-config.js";
import type { CreditedDeposit, DepositPort, PendingDeposit } from "../venue-port.js";
import { type BlockReference, type SignedVote, type Statement, signVote } from "../vote.js";
import { CreditedWatch } from "./credited-watch.js";
import { judge } from "./judge.js";
import { PollPlan } from "./poll-plan.js";

export interface ChainAttestorParts {
  readonly venue: string;
  readonly attestor: LocalAttestor;
  readonly chain: ChainConfig;
  readonly port: DepositPort;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Uniform in [0, 1): the jitter of retries. */
  readonly uniform: () => number;
  readonly observe: BridgeObserver;
  /** Ends requests under way. */
  readonly stop?: AbortSignal;
}

/** Deposits are judged, and votes are handed on, in portions: as many as a request takes. */
const DEPOSITS_AT_A_TIME = 64;
/** Another attestor's vote may settle a deposit first; that is no fault. */
const SETTLED = "deposit_settled";

export class ChainAttestor {
  private readonly pool: EndpointPool;
  private readonly watch: CreditedWatch;
  private readonly plan = new PollPlan();
  private underWay: Promise<void> | undefined;

  constructor(private readonly parts: ChainAttestorParts) {
    this.pool = new EndpointPool(parts.chain, parts);
    this.watch = new CreditedWatch(parts.chain);
  }

  /** One reading and its votes. A poll that is under way is joined, never doubled. */
  poll(): Promise<void> {
    this.underWay ??= this.pollOnce().finally(() => {
      this.underWay = undefined;
    });
    return this.underWay;
  }

  private async pollOnce(): Promise<void> {
    const { port, chain, attestor, clock, observe } = this.parts;
    const waiting = await port.pending(chain.chain, attestor.index);
    const pending = this.plan.choose(waiting, clock());
    const watched = await this.watchedNow(clock());
    const hashes = new Set([...pending, ...watched].map(({ txHash }) => txHash));
    if (hashes.size === 0) return;
    const views = await this.pool.read([...hashes]);
    let votes = 0;
    for (let at = 0; at < pending.length; at += DEPOSITS_AT_A_TIME) {
      const portion = pending.slice(at, at + DEPOSITS_AT_A_TIME);
      votes += await this.submit(portion.flatMap((deposit) => this.voteOn(deposit, views) ?? []));
      await setImmediate();
    }
    for (const deposit of watched) await this.recheck(deposit, views);
    observe({
      kind: "Polled",
      chain: chain.chain,
      pending: waiting.length,
      votes,
      endpoints: views.length,
    });
  }

  private async watchedNow(nowMs: number): Promise<readonly CreditedDeposit[]> {
    const { port, chain, attestor } = this.parts;
    if (!this.watch.isDue(nowMs)) return [];
    const sinceMs = nowMs - chain.watchMs;
    return this.watch.begin(await port.credited(chain.chain, sinceMs, attestor.index), nowMs);
  }

  private voteOn(deposit: PendingDeposit, views: readonly ChainView[]): SignedVote | null {
    const { chain, observe } = this.parts;
    const { depositId, ownVote } = deposit;
    const agreement = agreementOn(deposit.txHash, views, chain.minAgreeing);
    if (agreement.kind === "disagreed") {
      const { endpoints } = agreement;
      observe({ kind: "EndpointsDisagreed", chain: chain.chain, depositId, endpoints });
    }
    const judgement = judge(deposit, agreement, chain);
    if (judgement === null) return null;
    const { statement, block, dust } = judgement;
    const hadConfirmations = ownVote?.confirmations ?? 0;
    if (statement.confirmations < hadConfirmations) {
      observe({ kind: "DepositReorged", chain: chain.chain, depositId, hadConfirmations });
    }
    for (const rest of dust) {
      observe({ kind: "DustFloored", chain: chain.chain, depositId, ...rest });
    }
    return this.sign(deposit, statement, block);
  }

  /** Answers how many there were. */
  private async submit(votes: readonly SignedVote[]): Promise<number> {
    if (votes.length === 0) return 0;
    const { port, chain, observe } = this.parts;
    const refusals = await port.submit(votes);
    votes.forEach(({ vote: { depositId } }, i) => {
      const reason = refusals[i] ?? null;
      if (reason === null || reason === SETTLED) return;
      observe({ kind: "VoteRefused", chain: chain.chain, depositId, reason });
    });
    return votes.length;
  }

  private async recheck(deposit: CreditedDeposit, views: readonly ChainView[]): Promise<void> {
    const { chain, observe, port } = this.parts;
    const agreement = agreementOn(deposit.txHash, views, chain.minAgreeing);
    const reason = this.watch.check(deposit, agreement);
    if (reason === null) return;
    const creditedMicros = deposit.credits.reduce((sum, credit) => sum + credit.amountMicros, 0);
    const { depositId } = deposit;
    observe({ kind: "CreditReorged", chain: chain.chain, depositId, reason, creditedMicros });
    await port.markReorged(this.sign(deposit, reorged(reason, chain.confirmations), null));
    this.watch.wasTold(depositId);
  }

  private sign(
    { depositId, txHash, token }: Pick<PendingDeposit, "depositId" | "txHash" | "token">,
    statement: Statement,
    block: BlockReference | null,
  ): SignedVote {
    const { venue, attestor, chain, clock } = this.parts;
    const subject = { venue, attestor: attestor.index, depositId, chain: chain.chain };
    return signVote(
      { ...subject, txHash, token, ...statement, block, votedAtMs: clock() },
      attestor.privateKey,
    );
  }
}

function reorged(reason: ReorgReason, required: number): Statement {
  return { verdict: "reorged", confirmations: 0, required, credits: [], reason };
}
