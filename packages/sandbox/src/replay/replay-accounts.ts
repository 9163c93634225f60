/**
 * Who quotes and takes what a recording says, in one market. One account quotes, others take. Once the
 * position of the one that quotes has grown large, the account whose position is most opposed to it quotes
 * in its place, and it becomes one that takes: so a day on which all buy closes positions as it opens them,
 * and open interest stays bounded.
 */

import type { SandboxAccount } from "../accounts.js";

export interface ReplayAccount extends SandboxAccount {
  /** Its number in the venue. */
  readonly number: number;
  /** Orders of it that rest. */
  resting: number;
}

export interface AccountSource {
  /** Opens the next account, with money. */
  open(): Promise<ReplayAccount>;
  /** Dollars of the account's position at mark, below 0 for a short one. */
  positionOf(account: ReplayAccount): number;
  /** Dollars of a position with which an account quotes or takes no more, unless that reduces it. */
  readonly worn: number;
  /** Of its orders. */
  readonly leverage: number;
}

export class ReplayAccounts {
  readonly all: ReplayAccount[] = [];
  private maker: ReplayAccount | undefined;

  constructor(private readonly source: AccountSource) {}

  get leverage(): number {
    return this.source.leverage;
  }

  /** The account that quotes what is new. */
  async quoting(): Promise<ReplayAccount> {
    const { maker } = this;
    if (maker === undefined) {
      this.maker = await this.open();
      return this.maker;
    }
    const position = this.source.positionOf(maker);
    if (Math.abs(position) < this.source.worn) return maker;
    /** How far a position is from one that the next fills would make larger still. */
    const room = (account: ReplayAccount) => -Math.sign(position) * this.source.positionOf(account);
    const others = this.all.filter((one) => one !== maker);
    const best = others.toSorted((a, b) => room(b) - room(a))[0];
    // One of the same side is worn soon, too.
    this.maker =
      best !== undefined && room(best) > -this.source.worn / 2 ? best : await this.open();
    return this.maker;
  }

  /** An account that buys (1) or sells (−1), and meets no order of its own. */
  async taking(side: 1 | -1): Promise<ReplayAccount> {
    // The most negative is reduced most.
    const after = (account: ReplayAccount) => side * this.source.positionOf(account);
    const free = this.all.filter((one) => one !== this.maker && one.resting === 0);
    const best = free.toSorted((a, b) => after(a) - after(b))[0];
    if (best !== undefined && after(best) < this.source.worn) return best;
    return this.open();
  }

  private async open(): Promise<ReplayAccount> {
    const account = await this.source.open();
    this.all.push(account);
    return account;
  }
}
