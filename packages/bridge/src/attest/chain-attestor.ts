/**
 * One attestor on one chain. A poll reads the pending deposits, queries the chain's endpoints, and
 * submits new votes. A restart loses no state.
 *
 * A poll has two parts: pending deposits, and the watch over credited ones. A failure in one part
 * does not end the other, and a failing deposit does not affect others: it is reported and retried
 * with its own backoff.
 */

import { setImmediate } from "node:timers/promises";
import type { CreditedDeposit, PendingDeposit } from "@perpgate/protocol";
import { publicKeyHex } from "../attestor-key.js";
import { DepositBackoff } from "../backoff.js";
import type { BridgeObserver, ReorgReason } from "../bridge-event.js";
import { agreementOn, majorityOn } from "../chain/agreement.js";
import type { ChainView } from "../chain/chain-view.js";
import { EndpointPool, reachedHeadMs } from "../chain/endpoint-pool.js";
import type { LocalAttestor } from "../config/bridge-config.js";
import { type ChainConfig, differenceFrom, termsOf } from "../config/chain-config.js";
import type { DepositPort, VenueTerms } from "../venue-port.js";
import { type BlockReference, type SignedVote, type Statement, signVote } from "../vote.js";
import { CreditedWatch } from "./credited-watch.js";
import { judgeTransaction } from "./judge.js";
import { PollPlan } from "./poll-plan.js";
import { VoteSender } from "./vote-sender.js";

interface ChainAttestorParts {
  readonly attestor: LocalAttestor;
  readonly chain: ChainConfig;
  readonly port: DepositPort;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Uniform in [0, 1): the jitter of retries. */
  readonly uniform: () => number;
  readonly observe: BridgeObserver;
  /** Aborts requests in flight. */
  readonly stop?: AbortSignal;
}

/** Deposits are judged and votes submitted in batches of the size of a request. */
const DEPOSITS_PER_BATCH = 64;

export class ChainAttestor {
  private readonly pool: EndpointPool;
  private readonly watch: CreditedWatch;
  private readonly plan: PollPlan;
  private readonly backoff: DepositBackoff;
  private readonly sender: VoteSender;
  private inFlight: Promise<void> | undefined;
  private venueId = "";
  private isHeadOld = false;
  /** What endpoints disagreed on in the current poll. */
  private readonly disagreed: { depositId: number; endpoints: readonly string[] }[] = [];

  constructor(private readonly parts: ChainAttestorParts) {
    const { chain, attestor, uniform } = parts;
    this.pool = new EndpointPool(chain, parts);
    this.watch = new CreditedWatch(chain);
    this.plan = new PollPlan(chain.chain, attestor.index);
    this.backoff = new DepositBackoff(uniform);
    this.sender = new VoteSender({ ...parts, chain: chain.chain, backoff: this.backoff });
  }

  /** Joins a poll that is in flight. */
  poll(): Promise<void> {
    this.inFlight ??= this.pollOnce().finally(() => {
      this.inFlight = undefined;
    });
    return this.inFlight;
  }

  /** Rejects with the first failure after both parts were tried. */
  private async pollOnce(): Promise<void> {
    const { attestor, chain, clock, observe } = this.parts;
    if (!(await this.hasSameTerms())) return;
    const failures: unknown[] = [];
    const recorded = <T>(fallback: T) => {
      return (error: unknown): T => {
        failures.push(error);
        return fallback;
      };
    };
    const pending = await this.pendingNow().catch(recorded<readonly PendingDeposit[]>([]));
    const watched = await this.watchedNow(clock()).catch(recorded<readonly CreditedDeposit[]>([]));
    const hashes = new Set([...pending, ...watched].map(({ txHash }) => txHash));
    const isIdle = hashes.size === 0;
    // While the head is old, each poll looks for a new one.
    const views = isIdle && !this.isHeadOld ? [] : await this.pool.read([...hashes]);
    const headAgeMs = this.headAge(views);
    const votes = await this.attest(pending, views).catch(recorded(0));
    await this.recheckAll(watched, views).catch(recorded(undefined));
    this.reportDisagreements();
    if (failures.length > 0) throw failures[0];
    observe({
      kind: "Polled",
      chain: chain.chain,
      attestor: attestor.index,
      pending: pending.length,
      votes,
      endpoints: views.length,
      isIdle,
      headAgeMs,
      isHeadOld: this.isHeadOld,
    });
  }

  /** Null if too few endpoints responded; then `isHeadOld` stays. */
  private headAge(views: readonly ChainView[]): number | null {
    const { chain, clock } = this.parts;
    const headMs = reachedHeadMs(views, chain.minAgreeing);
    if (headMs === null) return null;
    const ageMs = Math.max(0, clock() - headMs);
    this.isHeadOld = ageMs > chain.maxHeadAgeMs;
    return ageMs;
  }

  /** Whether the venue has the same configuration; reports a difference. */
  private async hasSameTerms(): Promise<boolean> {
    const { attestor, port, chain, observe } = this.parts;
    const terms = await port.terms();
    this.venueId = terms.venueId;
    const difference = this.keyDifference(terms) ?? differenceFrom(terms, chain);
    if (difference === null) return true;
    const { index } = attestor;
    observe({ kind: "ConfigurationDiffers", chain: chain.chain, attestor: index, difference });
    return false;
  }

  /** Votes of another key than the venue has at this attestor's index are refused. */
  private keyDifference({ members }: VenueTerms): string | null {
    const { index, privateKey } = this.parts.attestor;
    const ours = publicKeyHex(privateKey);
    const theirs = members[index]?.toLowerCase();
    if (theirs === ours) return null;
    return `the key of attestor ${index}: ${ours} here, ${theirs ?? "none"} at the venue`;
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
    for (let at = 0; at < pending.length; at += DEPOSITS_PER_BATCH) {
      const batch = pending.slice(at, at + DEPOSITS_PER_BATCH);
      votes += await this.sender.send(
        batch.flatMap((deposit) => this.voteOn(deposit, views) ?? []),
      );
      await setImmediate();
    }
    return votes;
  }

  /** The vote on a deposit, or null; a failure backs off this deposit alone. */
  private voteOn(deposit: PendingDeposit, views: readonly ChainView[]): SignedVote | null {
    const { chain, clock, observe } = this.parts;
    try {
      return this.judgedVote(deposit, views);
    } catch (error) {
      const { depositId } = deposit;
      const retryAtMs = this.backoff.failed(depositId, clock());
      observe({ kind: "DepositFailed", chain: chain.chain, depositId, retryAtMs, error });
      return null;
    }
  }

  private judgedVote(deposit: PendingDeposit, views: readonly ChainView[]): SignedVote | null {
    const { chain, observe } = this.parts;
    const { depositId, ownVote } = deposit;
    const agreement = agreementOn(deposit.txHash, views, chain);
    if (agreement.kind === "disagreed") {
      this.disagreed.push({ depositId, endpoints: agreement.endpoints });
    }
    const judgement = judgeTransaction(deposit, agreement, chain);
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

  /** Rejects with the first failure after all deposits were tried. */
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
    if (dissenting.length > 0) this.disagreed.push({ depositId, endpoints: dissenting });
    const reason = this.watch.check(deposit, agreement);
    if (reason === null) return;
    const creditedMicros = deposit.credits.reduce((sum, credit) => sum + credit.amountMicros, 0);
    observe({ kind: "CreditReorged", chain: chain.chain, depositId, reason, creditedMicros });
    const vote = this.sign(deposit, reorged(reason, chain.confirmations), null);
    // Repeated at the next recheck if the venue did not accept it.
    if ((await this.sender.send([vote])) === 1) this.watch.wasReported(depositId, reason);
  }

  private reportDisagreements(): void {
    const { attestor, chain, observe } = this.parts;
    const disagreed = this.disagreed.splice(0);
    const [first] = disagreed;
    if (first === undefined) return;
    observe({
      kind: "EndpointsDisagreed",
      chain: chain.chain,
      attestor: attestor.index,
      deposits: disagreed.length,
      depositId: first.depositId,
      endpoints: [...new Set(disagreed.flatMap(({ endpoints }) => endpoints))],
    });
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
