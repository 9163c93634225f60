/**
 * One attestor on one chain. A poll reads what is pending, asks the chain's endpoints, and submits
 * what is new. It keeps nothing between polls that a restart could lose.
 *
 * A poll has two halves, pending deposits and the watch over credited ones. Neither can end the
 * other, and within each half no deposit can end another: what fails is reported and tried again
 * after a pause of its own.
 */

import { setImmediate } from "node:timers/promises";
import type { BridgeObserver, ReorgReason } from "../bridge-event.js";
import { agreementOn, majorityOn } from "../chain/agreement.js";
import type { ChainView } from "../chain/chain-view.js";
import { EndpointPool } from "../chain/endpoint-pool.js";
import type { LocalAttestor } from "../config/bridge-config.js";
import type { ChainConfig } from "../config/chain-config.js";
import type { CreditedDeposit, DepositPort, PendingDeposit } from "../venue-port.js";
import { type BlockReference, type SignedVote, type Statement, signVote } from "../vote.js";
import { CreditedWatch } from "./credited-watch.js";
import { DepositBackoff } from "./deposit-backoff.js";
import { judge } from "./judge.js";
import { PollPlan } from "./poll-plan.js";
import { differenceFrom, termsOf } from "./terms.js";
import { VoteSender } from "./vote-sender.js";

export interface ChainAttestorParts {
  readonly attestor: LocalAttestor;
  readonly chain: ChainConfig;
  readonly port: DepositPort;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Uniform in [0, 1): the jitter of retries. */
  readonly uniform: () => number;
  readonly observe: BridgeObserver;
  /** Ends requests in flight. */
  readonly stop?: AbortSignal;
}

/** Deposits are judged, and votes are handed on, in portions: as many as a request takes. */
const DEPOSITS_AT_A_TIME = 64;

export class ChainAttestor {
  private readonly pool: EndpointPool;
  private readonly watch: CreditedWatch;
  private readonly plan: PollPlan;
  private readonly backoff: DepositBackoff;
  private readonly sender: VoteSender;
  private inFlight: Promise<void> | undefined;
  private venueId = "";

  constructor(private readonly parts: ChainAttestorParts) {
    const { chain, attestor, uniform } = parts;
    this.pool = new EndpointPool(chain, parts);
    this.watch = new CreditedWatch(chain);
    this.plan = new PollPlan(chain.chain, attestor.index);
    this.backoff = new DepositBackoff(uniform);
    this.sender = new VoteSender({ ...parts, chain: chain.chain, backoff: this.backoff });
  }

  /** One reading and its votes. A poll that is in flight is joined, never doubled. */
  poll(): Promise<void> {
    this.inFlight ??= this.pollOnce().finally(() => {
      this.inFlight = undefined;
    });
    return this.inFlight;
  }

  /** Rejects once both halves have been tried, with the first failure. */
  private async pollOnce(): Promise<void> {
    const { chain, clock, observe } = this.parts;
    if (!(await this.isOnTerms())) return;
    const failures: unknown[] = [];
    const caught = <T>(otherwise: T) => {
      return (error: unknown): T => {
        failures.push(error);
        return otherwise;
      };
    };
    const pending = await this.pendingNow().catch(caught<readonly PendingDeposit[]>([]));
    const watched = await this.watchedNow(clock()).catch(caught<readonly CreditedDeposit[]>([]));
    const hashes = new Set([...pending, ...watched].map(({ txHash }) => txHash));
    const views = hashes.size === 0 ? [] : await this.pool.read([...hashes]);
    const votes = await this.attest(pending, views).catch(caught(0));
    await this.recheckAll(watched, views).catch(caught(undefined));
    if (failures.length > 0) throw failures[0];
    const endpoints = views.length;
    const isIdle = hashes.size === 0;
    observe({
      kind: "Polled",
      chain: chain.chain,
      pending: pending.length,
      votes,
      endpoints,
      isIdle,
    });
  }

  /** Whether the venue counts by the same vault, contracts and figures; reported if not. */
  private async isOnTerms(): Promise<boolean> {
    const { port, chain, observe } = this.parts;
    const terms = await port.terms();
    this.venueId = terms.venueId;
    const difference = differenceFrom(terms, chain);
    if (difference === null) return true;
    observe({ kind: "ConfigurationDiffers", chain: chain.chain, difference });
    return false;
  }

  private async pendingNow(): Promise<readonly PendingDeposit[]> {
    const { port, clock } = this.parts;
    const nowMs = clock();
    return this.plan.choose(port, nowMs, (id) => this.backoff.isReady(id, nowMs));
  }

  private async watchedNow(nowMs: number): Promise<readonly CreditedDeposit[]> {
    const { port, chain, attestor } = this.parts;
    if (!this.watch.isDue(nowMs)) return [];
    const deposits: CreditedDeposit[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const sinceMs = nowMs - chain.watchMs;
      const { rows, next }: Awaited<ReturnType<DepositPort["credited"]>> = await port.credited(
        chain.chain,
        attestor.index,
        sinceMs,
        after,
      );
      deposits.push(...rows);
      after = next;
    }
    return this.watch.begin(deposits, nowMs);
  }

  private async attest(
    pending: readonly PendingDeposit[],
    views: readonly ChainView[],
  ): Promise<number> {
    let votes = 0;
    for (let at = 0; at < pending.length; at += DEPOSITS_AT_A_TIME) {
      const portion = pending.slice(at, at + DEPOSITS_AT_A_TIME);
      votes += await this.sender.send(
        portion.flatMap((deposit) => this.voteOn(deposit, views) ?? []),
      );
      await setImmediate();
    }
    return votes;
  }

  /** The deposit's vote, or null; a judgement that throws is the deposit's own fault. */
  private voteOn(deposit: PendingDeposit, views: readonly ChainView[]): SignedVote | null {
    const { chain, clock, observe } = this.parts;
    try {
      return this.judged(deposit, views);
    } catch (error) {
      const { depositId } = deposit;
      const retryAtMs = this.backoff.failed(depositId, clock());
      observe({ kind: "DepositFailed", chain: chain.chain, depositId, retryAtMs, error });
      return null;
    }
  }

  private judged(deposit: PendingDeposit, views: readonly ChainView[]): SignedVote | null {
    const { chain, observe } = this.parts;
    const { depositId, ownVote } = deposit;
    const agreement = agreementOn(deposit.txHash, views, chain);
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

  /** Rejects with the first failure after all were tried. */
  private async recheckAll(
    watched: readonly CreditedDeposit[],
    views: readonly ChainView[],
  ): Promise<void> {
    const failures: unknown[] = [];
    for (const deposit of watched) {
      await this.recheck(deposit, views).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  private async recheck(deposit: CreditedDeposit, views: readonly ChainView[]): Promise<void> {
    const { chain, observe } = this.parts;
    const { depositId } = deposit;
    const { agreement, dissenting } = majorityOn(deposit.txHash, views, chain);
    if (dissenting.length > 0) {
      observe({ kind: "EndpointsDisagreed", chain: chain.chain, depositId, endpoints: dissenting });
    }
    const reason = this.watch.check(deposit, agreement);
    if (reason === null) return;
    const creditedMicros = deposit.credits.reduce((sum, credit) => sum + credit.amountMicros, 0);
    observe({ kind: "CreditReorged", chain: chain.chain, depositId, reason, creditedMicros });
    const vote = this.sign(deposit, reorged(reason, chain.confirmations), null);
    // Said again at the next recheck where it was not taken.
    if ((await this.sender.send([vote])) === 1) this.watch.wasReported(depositId);
  }

  private sign(
    { depositId, txHash }: Pick<PendingDeposit, "depositId" | "txHash">,
    statement: Statement,
    block: BlockReference | null,
  ): SignedVote {
    const { attestor, chain, clock } = this.parts;
    const { chainId, vault, tokens } = termsOf(chain);
    return signVote(
      {
        venue: this.venueId,
        attestor: attestor.index,
        depositId,
        chain: chain.chain,
        chainId,
        vault,
        tokens: tokens.map(({ token, contract }) => ({ token, contract })),
        txHash,
        ...statement,
        block,
        votedAtMs: clock(),
      },
      attestor.privateKey,
    );
  }
}

function reorged(reason: ReorgReason, required: number): Statement {
  return {
    verdict: "reorged",
    confirmations: 0,
    required,
    credits: [],
    reason,
    part: 1,
    parts: 1,
  };
}
