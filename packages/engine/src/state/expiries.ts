/**
 * The open orders that expire, by account: in each account the soonest first, and the accounts by the
 * soonest of each. So the tick finds the next account with an expired order, and the next order of an
 * account, however many others have expired. An account that waits for its turn to have orders ended
 * (state/end-queue.ts) is held: it does not count among the next ones meanwhile.
 *
 * Rows are those of the extras of orders; everything here is derived from them.
 */
import { NONE } from "./id-index.js";
import { grown, int32, widen } from "./memory.js";
import type { HashSeed } from "./seeded-hash.js";
import { Int32Segments } from "./segments.js";
import type { Table } from "./table.js";
import { Timers } from "./timers.js";
import { TREAP_WORDS, Treap } from "./treap.js";

/** Links per row: those of the tree, and the account. */
const LINKS = TREAP_WORDS + 1;
const ACCOUNT = TREAP_WORDS;

export class Expiries extends Treap {
  /** How many orders expire. */
  size = 0;
  private links = int32(16 * LINKS);
  /** By account: the root of its rows + 1; 0 for none. */
  private readonly roots = new Int32Segments();
  private readonly accounts: Timers;
  private readonly held = new Set<number>();

  constructor(
    private readonly extras: Table,
    seed: HashSeed,
  ) {
    super(LINKS, seed);
    this.accounts = new Timers(seed);
  }

  add(row: number, account: number): void {
    while (row * LINKS >= this.links.length) {
      this.links = widen(this.links, int32(grown(this.links.length / LINKS) * LINKS));
    }
    this.links[row * LINKS + ACCOUNT] = account;
    this.roots.set(account, this.insert(this.roots.get(account) - 1, row) + 1);
    this.size++;
    this.note(account);
  }

  delete(row: number): void {
    const account = this.accountOf(row);
    this.roots.set(account, this.remove(this.roots.get(account) - 1, row) + 1);
    this.size--;
    this.note(account);
  }

  /** The account that a row was added for last. */
  accountOf(row: number): number {
    return this.links[row * LINKS + ACCOUNT]!;
  }

  /** The account's row that expires first, or NONE. */
  firstOf(account: number): number {
    return this.first(this.roots.get(account) - 1);
  }

  /** When the first order of an account that is not held expires, or infinity. */
  nextTime(): number {
    return this.accounts.nextTime();
  }

  /** The account of that order; only when there is one. */
  nextAccount(): number {
    return this.accounts.first();
  }

  isHeld(account: number): boolean {
    return this.held.has(account);
  }

  hold(account: number): void {
    this.held.add(account);
    this.note(account);
  }

  resume(account: number): void {
    this.held.delete(account);
    this.note(account);
  }

  clear(): void {
    for (let place = this.accounts.size; place > 0; place--) this.forget(this.accounts.first());
    for (const account of this.held) this.forget(account);
    this.held.clear();
    this.size = 0;
  }

  private forget(account: number): void {
    this.roots.set(account, 0);
    this.accounts.delete(account);
  }

  /** Keeps the account where its soonest order puts it. */
  private note(account: number): void {
    const row = this.held.has(account) ? NONE : this.firstOf(account);
    if (row === NONE) this.accounts.delete(account);
    else this.accounts.set(account, this.timeOf(row), this.idOf(row));
  }

  private timeOf(row: number): number {
    return this.extras.data[row * 16 + 3]!;
  }

  protected override get treeLinks(): Int32Array {
    return this.links;
  }
  protected override idOf(row: number): number {
    return this.extras.data[row * 16]!;
  }
  protected override isBefore(row: number, other: number): boolean {
    const difference = this.timeOf(row) - this.timeOf(other);
    return difference !== 0 ? difference < 0 : this.idOf(row) < this.idOf(other);
  }
}
