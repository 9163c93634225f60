/**
 * Which of the pending deposits a poll asks the chain about, and in which order. Registering a hash
 * costs nothing, so a stranger can fill the queue with hashes that no chain holds, or with other
 * people's transactions; neither may keep anybody waiting.
 *
 * A poll reads the newest pages of the queue and as many pages of the rest, which it walks through
 * from one poll to the next. So a newcomer is asked about at the next poll, however many wait, and
 * everything is asked about sooner or later. What is read is served account by account in turn, what
 * was seen on the chain first, and the newest first.
 */

import type { Chain } from "@perpgate/protocol";
import type { DepositPort, PendingDeposit } from "../venue-port.js";

const EAGER_MS = 600_000;
/** The most polls that a deposit no one has seen may be left out in a row for its age. */
export const MAX_PAUSE_POLLS = 64;
/** Of each end of the queue, in one poll. */
export const PAGES_PER_POLL = 4;

type PendingPages = Pick<DepositPort, "pending">;

export class PollPlan {
  private polls = 0;
  /** Where the walk through the older part of the queue goes on. */
  private walkedTo = 0;

  constructor(
    private readonly chain: Chain,
    private readonly attestor: number,
  ) {}

  /** What the poll is about, in the order of service. */
  async choose(
    port: PendingPages,
    nowMs: number,
    isReady: (depositId: number) => boolean = () => true,
  ): Promise<readonly PendingDeposit[]> {
    this.polls++;
    const found = await this.read(port);
    const due = found.filter((deposit) => isReady(deposit.depositId) && this.isDue(deposit, nowMs));
    return [...inTurn(due.filter(isSeen)), ...inTurn(due.filter((deposit) => !isSeen(deposit)))];
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
      this.walkedTo = 0;
    } else {
      // Below `after` lies what was not read yet.
      for (let pages = 0; pages < PAGES_PER_POLL; pages++) {
        const { rows, next } = await port.pending(chain, attestor, "ascending", this.walkedTo);
        add(rows);
        const isDone = next === null || next >= after;
        this.walkedTo = isDone ? 0 : next;
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
    // By its number, so that those of one hour do not come back together.
    return (this.polls + deposit.depositId) % pause === 0;
  }
}

function isSeen({ ownVote, status }: PendingDeposit): boolean {
  return ownVote !== null || status === "confirming";
}

/** One of each account, then the second of each, and so on; the order within an account stays. */
export function inTurn(deposits: readonly PendingDeposit[]): readonly PendingDeposit[] {
  const rounds: PendingDeposit[][] = [];
  const counts = new Map<number, number>();
  for (const deposit of deposits) {
    const round = counts.get(deposit.account) ?? 0;
    counts.set(deposit.account, round + 1);
    rounds[round] ??= [];
    rounds[round].push(deposit);
  }
  return rounds.flat();
}
