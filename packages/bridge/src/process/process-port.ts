/**
 * The attestors' port inside their process: sends requests as messages and joins the parts of the
 * responses. Also provides the venue's time for votes: that of the newest message, and on from there by
 * the monotonic clock. It never goes back.
 */

import type {
  Chain,
  CreditedDeposit,
  DepositPage,
  PendingDeposit,
  QueueOrder,
} from "@perpgate/protocol";
import type { ChainBridgeConfig } from "../config/bridge-config.js";
import type { DepositPort, VenueTerms } from "../venue-port.js";
import { type SignedVote, type VoteProblem, verifyVoteSync } from "../vote.js";
import type { AttestorData, AttestorRequest, FromAttestors, ToAttestors } from "./messages.js";

/** Votes per message: half a millisecond of the venue's order thread. */
const VOTES_PER_MESSAGE = 8;

interface Waiting {
  readonly rows: unknown[];
  readonly resolve: (next: number | null) => void;
  readonly reject: (error: Error) => void;
}

export class ProcessPort implements DepositPort {
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;
  /** The venue's time in the newest message, and the monotonic time when it arrived. */
  private venueMs: number;
  private arrivedMs = performance.now();
  private lastMs = 0;

  constructor(
    private readonly send: (message: FromAttestors) => void,
    private readonly data: Pick<ChainBridgeConfig, "members"> &
      Pick<AttestorData, "venueId" | "nowMs">,
  ) {
    this.venueMs = data.nowMs;
  }

  nowMs(): number {
    const sinceMs = Math.floor(performance.now() - this.arrivedMs);
    this.lastMs = Math.max(this.lastMs, this.venueMs + sinceMs);
    return this.lastMs;
  }

  /** The log's, which `perpgate configure` may have changed since the start of the process. */
  async terms(): Promise<VenueTerms> {
    const { rows } = await this.request<VenueTerms>({ kind: "terms" });
    const [terms] = rows;
    if (terms === undefined) throw new Error("the venue returned no terms");
    return terms;
  }

  pending(
    chain: Chain,
    attestor: number,
    order: QueueOrder,
    after: number,
  ): Promise<DepositPage<PendingDeposit>> {
    return this.request({ kind: "pending", chain, attestor, order, after });
  }

  credited(
    chain: Chain,
    attestor: number,
    sinceMs: number,
    after: number,
  ): Promise<DepositPage<CreditedDeposit>> {
    return this.request({ kind: "credited", chain, attestor, sinceMs, after });
  }

  /** Verifies signatures in this process and forwards only valid votes. */
  async submit(votes: readonly SignedVote[]): Promise<readonly (string | null)[]> {
    const problems = votes.map((vote) => this.problemOf(vote));
    const valid = votes.filter((_, i) => problems[i] === null);
    if (valid.length === 0) return problems;
    const rest: (string | null)[] = [];
    for (let at = 0; at < valid.length; at += VOTES_PER_MESSAGE) {
      const batch = valid.slice(at, at + VOTES_PER_MESSAGE);
      const { rows } = await this.request<string | null>({ kind: "submit", votes: batch });
      rest.push(...rows);
    }
    return problems.map((problem) => (problem === null ? (rest.shift() ?? null) : problem));
  }

  private problemOf(vote: SignedVote): VoteProblem | null {
    return verifyVoteSync(vote, (attestor) => this.data.members[attestor], this.data.venueId);
  }

  onMessage(message: Exclude<ToAttestors, { kind: "stop" }>): void {
    const waiting = this.waiting.get(message.id);
    if (waiting === undefined) return;
    if (message.kind === "failure") {
      this.waiting.delete(message.id);
      waiting.reject(new Error(message.message));
      return;
    }
    this.venueMs = message.nowMs;
    this.arrivedMs = performance.now();
    waiting.rows.push(...message.rows);
    if (!message.isLast) return;
    this.waiting.delete(message.id);
    waiting.resolve(message.next);
  }

  private request<Row>(request: AttestorRequest): Promise<DepositPage<Row>> {
    const id = ++this.lastId;
    return new Promise<DepositPage<Row>>((resolve, reject) => {
      const rows: Row[] = [];
      this.waiting.set(id, { rows, resolve: (next) => resolve({ rows, next }), reject });
      this.send({ kind: "request", id, request });
    });
  }
}
