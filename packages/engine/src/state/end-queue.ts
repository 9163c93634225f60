/**
 * Accounts with orders that are over and still to be ended: their dead-man's switch has fired, a session
 * was lost, or orders have expired (orders/over.ts). Each gets a turn before any gets a second one.
 *
 * The queue is part of the state; it is replaced, never written to, so that a command that fails can
 * return to what it was. What is said of lost sessions is derived from `VenueState.carriedDisconnects`.
 */
import type { Expiries } from "./expiries.js";

/** The words of an entry of that list: account, session, and the last position that is meant. */
export const LOST_WORDS = 3;

export class EndQueue {
  /** Accounts that wait for their first turn, and those that have had one, in order. */
  fresh: readonly number[] = [];
  again: readonly number[] = [];
  /** By session: the position up to which its orders are meant. */
  readonly lostAt = new Map<number, number>();
  private readonly sessionsOf = new Map<number, number[]>();

  constructor(private readonly expiries: Expiries) {}

  get isEmpty(): boolean {
    return this.fresh.length + this.again.length === 0;
  }

  has(account: number): boolean {
    return this.expiries.isHeld(account);
  }

  /** Lets accounts wait that do not do so yet. */
  add(accounts: Iterable<number>): void {
    const added: number[] = [];
    for (const account of accounts) {
      if (this.has(account)) continue;
      this.expiries.hold(account);
      added.push(account);
    }
    this.append(added);
  }

  /** As `add`, for accounts that are held already. */
  append(accounts: readonly number[]): void {
    if (accounts.length > 0) this.fresh = [...this.fresh, ...accounts];
  }

  /** Notes entries of the list of lost sessions: account, session and position, each. */
  noteLost(entries: Float64Array): void {
    for (let at = 0; at < entries.length; at += LOST_WORDS) {
      const account = entries[at]!;
      const session = entries[at + 1]!;
      this.lostAt.set(session, entries[at + 2]!);
      const known = this.sessionsOf.get(account);
      if (known === undefined) this.sessionsOf.set(account, [session]);
      else if (!known.includes(session)) known.push(session);
    }
  }

  hasLost(account: number): boolean {
    return this.sessionsOf.has(account);
  }

  /** The account has nothing left to end; it is no longer in `fresh` nor `again`. */
  done(account: number): void {
    for (const session of this.sessionsOf.get(account) ?? []) this.lostAt.delete(session);
    this.sessionsOf.delete(account);
    this.expiries.resume(account);
  }

  /** After the expiries were rebuilt. */
  reindex(lost: Float64Array): void {
    this.lostAt.clear();
    this.sessionsOf.clear();
    this.noteLost(lost);
    for (const account of this.fresh) this.expiries.hold(account);
    for (const account of this.again) this.expiries.hold(account);
  }
}
