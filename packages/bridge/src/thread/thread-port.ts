/**
 * The attestors' port inside their thread: questions go out as messages, answers come back in parts.
 * It also keeps the venue's time, which is what votes are dated by: the machine's clock may have
 * been set back while the venue's goes on.
 */

import type { Chain } from "@perpgate/protocol";
import { termsOf } from "../attest/terms.js";
import { dialectOf } from "../config/chain-config.js";
import type {
  CreditedDeposit,
  DepositPort,
  Page,
  PendingDeposit,
  QueueOrder,
  VenueTerms,
} from "../venue-port.js";
import { type SignedVote, type VoteProblem, verifyVoteHere } from "../vote.js";
import type { FromThread, Question, ThreadData, ToThread } from "./messages.js";

/** What one turn of the venue's thread takes along: half a millisecond of its time. */
const VOTES_AT_A_TIME = 8;

interface Waiting {
  readonly rows: unknown[];
  readonly resolve: (next: number | null) => void;
  readonly reject: (error: Error) => void;
}

export class ThreadPort implements DepositPort {
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;
  /** How far the venue's time is ahead of this machine's clock. */
  private leadMs: number;

  constructor(
    private readonly send: (message: FromThread) => void,
    private readonly data: Pick<ThreadData, "members" | "venueId" | "chains" | "nowMs">,
  ) {
    this.leadMs = data.nowMs - Date.now();
  }

  nowMs(): number {
    return Date.now() + Math.max(0, this.leadMs);
  }

  /** The venue of this process has this very configuration. */
  terms(): VenueTerms {
    const { venueId, chains } = this.data;
    return {
      venueId,
      chains: chains.map((chain) => termsOf({ ...chain, dialect: dialectOf(chain.chain) })),
    };
  }

  pending(
    chain: Chain,
    attestor: number,
    order: QueueOrder,
    after: number,
  ): Promise<Page<PendingDeposit>> {
    return this.ask({ kind: "pending", chain, attestor, order, after });
  }

  credited(
    chain: Chain,
    attestor: number,
    sinceMs: number,
    after: number,
  ): Promise<Page<CreditedDeposit>> {
    return this.ask({ kind: "credited", chain, attestor, sinceMs, after });
  }

  /** Signatures are checked here, off the order thread, which gets good votes only. */
  async submit(votes: readonly SignedVote[]): Promise<readonly (string | null)[]> {
    const problems = votes.map((vote) => this.problemOf(vote));
    const good = votes.filter((_, i) => problems[i] === null);
    if (good.length === 0) return problems;
    const rest: (string | null)[] = [];
    for (let at = 0; at < good.length; at += VOTES_AT_A_TIME) {
      const portion = good.slice(at, at + VOTES_AT_A_TIME);
      const { rows } = await this.ask<string | null>({ kind: "submit", votes: portion });
      rest.push(...rows);
    }
    return problems.map((problem) => (problem === null ? (rest.shift() ?? null) : problem));
  }

  private problemOf(vote: SignedVote): VoteProblem | null {
    return verifyVoteHere(vote, this.data.members, this.data.venueId);
  }

  onMessage(message: Exclude<ToThread, { kind: "stop" }>): void {
    const waiting = this.waiting.get(message.id);
    if (waiting === undefined) return;
    if (message.kind === "failure") {
      this.waiting.delete(message.id);
      waiting.reject(new Error(message.message));
      return;
    }
    this.leadMs = message.nowMs - Date.now();
    waiting.rows.push(...message.rows);
    if (!message.isLast) return;
    this.waiting.delete(message.id);
    waiting.resolve(message.next);
  }

  /** The other side answers a question with rows of its kind. */
  private ask<Row>(question: Question): Promise<Page<Row>> {
    const id = ++this.lastId;
    return new Promise<Page<Row>>((resolve, reject) => {
      const rows: Row[] = [];
      this.waiting.set(id, { rows, resolve: (next) => resolve({ rows, next }), reject });
      this.send({ kind: "question", id, question });
    });
  }
}
