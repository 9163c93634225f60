/**
 * Chooses the pending deposits that a poll looks up on the chain, and their order. Registering a hash
 * is free, so anyone can fill the queue with unknown hashes or with other people's transactions;
 * neither may delay other deposits.
 *
 * A poll reads the newest pages of the queue and the same number of older pages, continuing where the
 * previous poll stopped. A new deposit is therefore looked up at the next poll, and every deposit
 * eventually. Deposits seen on the chain come first, round-robin over the accounts, newest first.
 */

import type { Chain, PendingDeposit } from "@perpgate/protocol";
import { inTurn } from "../in-turn.js";
import type { DepositPort } from "../venue-port.js";

const EAGER_MS = 600_000;
/** The largest number of polls between two lookups of an old deposit that was never seen. */
export const MAX_PAUSE_POLLS = 64;
/** At each end of the queue. */
export const PAGES_PER_POLL = 4;

type PendingPages = Pick<DepositPort, "pending">;

export class PollPlan {
  private polls = 0;
  /** Where the next poll continues in the older part of the queue. */
  private olderAfter = 0;

  constructor(
    private readonly chain: Chain,
    private readonly attestor: number,
  ) {}

  /** The deposits of this poll, in order. */
  async choose(
    port: PendingPages,
    nowMs: number,
    isReady: (depositId: number) => boolean = () => true,
  ): Promise<readonly PendingDeposit[]> {
    this.polls++;
    const found = await this.read(port);
    const due = found.filter((deposit) => isReady(deposit.depositId) && this.isDue(deposit, nowMs));
    return [
      ...inTurn(due.filter(isSeen), accountOf),
      ...inTurn(
        due.filter((deposit) => !isSeen(deposit)),
        accountOf,
      ),
    ];
  }

  /** Newest first, each once. */
  private async read(port: PendingPages): Promise<readonly PendingDeposit[]> {
    const byId = new Map<number, PendingDeposit>();
    const { chain, attestor } = this;
    const add = (rows: readonly PendingDeposit[]): void => {
      for (const row of rows) byId.set(row.depositId, row);
    };
    let after: number | null = 0;
    for (let pages = 0; pages < PAGES_PER_POLL && after !== null; pages++) {
      const { rows, next }: Awaited<ReturnType<PendingPages["pending"]>> = await port.pending(
        chain,
        attestor,
        "descending",
        after,
      );
      add(rows);
      after = next;
    }
    if (after === null) {
      this.olderAfter = 0;
    } else {
      // Deposits below `after` were not read yet.
      for (let pages = 0; pages < PAGES_PER_POLL; pages++) {
        const { rows, next } = await port.pending(chain, attestor, "ascending", this.olderAfter);
        add(rows);
        const isDone = next === null || next >= after;
        this.olderAfter = isDone ? 0 : next;
        if (isDone) break;
      }
    }
    return [...byId.values()].sort((a, b) => b.depositId - a.depositId);
  }

  private isDue(deposit: PendingDeposit, nowMs: number): boolean {
    if (isSeen(deposit)) return true;
    const ageMs = nowMs - deposit.registeredAtMs;
    if (ageMs < EAGER_MS) return true;
    const pause = Math.min(MAX_PAUSE_POLLS, Math.ceil(ageMs / EAGER_MS));
    // The id spreads deposits of the same age over the polls.
    return (this.polls + deposit.depositId) % pause === 0;
  }
}

function isSeen({ ownVote, status }: PendingDeposit): boolean {
  return ownVote !== null || status === "confirming";
}

function accountOf({ account }: PendingDeposit): number {
  return account;
}
