/**
 * Which of the pending deposits a poll asks the chain about. Registering a hash costs nothing, so a
 * stranger can fill the queue with hashes that no chain holds; they must cost little and keep nobody
 * else waiting.
 *
 * A deposit that was seen on the chain is asked about at every poll. One that was not is too, for
 * its first minutes, and then ever more seldom. Past a bound on one poll the unseen take turns.
 */

import type { PendingDeposit } from "../venue-port.js";

const EAGER_MS = 600_000;
/** The most polls that a deposit may be left out in a row for its age. */
export const MAX_PAUSE_POLLS = 64;
const MAX_PER_POLL = 5_000;

export class PollPlan {
  private polls = 0;
  private offset = 0;

  choose(pending: readonly PendingDeposit[], nowMs: number): readonly PendingDeposit[] {
    this.polls++;
    const due = pending.filter((deposit) => this.isDue(deposit, nowMs));
    if (due.length <= MAX_PER_POLL) return due;
    const seen = due.filter(isSeen).slice(0, MAX_PER_POLL);
    const unseen = due.filter((deposit) => !isSeen(deposit));
    const room = MAX_PER_POLL - seen.length;
    const start = unseen.length === 0 ? 0 : this.offset % unseen.length;
    this.offset = start + room;
    return [...seen, ...[...unseen.slice(start), ...unseen.slice(0, start)].slice(0, room)];
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
