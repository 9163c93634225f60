/** Accounts by address and addresses by account, without a `Map` (sessions.ts says why). */
import { NONE } from "./id-index.js";
import { FIXED_SEED, type HashSeed } from "./seeded-hash.js";
import { TextCells } from "./text-cells.js";
import { TextIndex } from "./text-index.js";

export class Addresses {
  /** Account 0 is the backstop and has no address. */
  length = 1;
  private readonly texts = new TextCells(40);
  private readonly byText: TextIndex;

  constructor(seed: HashSeed = FIXED_SEED) {
    this.byText = new TextIndex(this.texts, seed);
    this.texts.set(0, "");
  }

  at(account: number): string | undefined {
    return account < this.length ? this.texts.get(account) : undefined;
  }

  /** The account of the address, or undefined. */
  get(address: string): number | undefined {
    const account = this.byText.get(address);
    return account === NONE ? undefined : account;
  }

  has(address: string): boolean {
    return this.byText.get(address) !== NONE;
  }

  /** Adds the address of the next account. */
  push(address: string): void {
    const account = this.length++;
    this.texts.set(account, address);
    this.byText.add(address, account);
  }

  /** All addresses, by account. */
  all(): string[] {
    return Array.from({ length: this.length }, (_, account) => this.texts.get(account));
  }
}
