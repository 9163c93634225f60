/**
 * Open orders by account and client id. The key is a seeded hash of both; orders whose keys are equal by
 * accident share an entry of a small map, so what is found never depends on the hash. Without the seed,
 * ids of many accounts could be chosen to share one entry. Derived.
 */
import type { ClientIdWords } from "@perpgate/protocol/client-order-id";
import { IdIndex, NONE } from "./id-index.js";
import { FIXED_SEED, type HashSeed, SeededHash } from "./seeded-hash.js";

const NO_KEY = 0;

interface Named {
  account(order: number): number;
  /** Zeros: it has none. */
  clientId(order: number): ClientIdWords;
}

export class ClientIdIndex {
  private readonly index = new IdIndex(16);
  /** Orders beyond the first of a key. */
  private readonly others = new Map<number, number[]>();
  private readonly hash: SeededHash;

  constructor(
    private readonly orders: Named,
    seed: HashSeed = FIXED_SEED,
  ) {
    this.hash = new SeededHash(seed);
  }

  /** The order, or NONE. */
  find(account: number, words: ClientIdWords): number {
    const key = this.keyFor(account, words);
    const first = this.index.get(key);
    if (first === NONE || this.isOf(first, account, words)) return first;
    return this.others.get(key)?.find((order) => this.isOf(order, account, words)) ?? NONE;
  }

  /** Adds an order if it has a client id. */
  add(order: number): void {
    const key = this.keyOf(order);
    if (key === NO_KEY) return;
    if (this.index.get(key) === NONE) this.index.set(key, order);
    else this.others.set(key, [...(this.others.get(key) ?? []), order]);
  }

  /** Removes an order if it has a client id; its words must not have changed. */
  remove(order: number): void {
    const key = this.keyOf(order);
    if (key === NO_KEY) return;
    const others = this.others.get(key);
    if (others === undefined) {
      this.index.delete(key);
      return;
    }
    const [next, ...rest] = [this.index.get(key), ...others].filter((other) => other !== order);
    this.index.set(key, next!);
    if (rest.length === 0) this.others.delete(key);
    else this.others.set(key, rest);
  }

  clear(): void {
    this.index.clear();
    this.others.clear();
  }

  /** A test replaces it to make keys collide. */
  protected keyFor(account: number, words: ClientIdWords): number {
    const { hash } = this;
    hash.begin();
    hash.add(account);
    for (const word of words) {
      hash.add(word);
      hash.add(word / 4_294_967_296);
    }
    return hash.end();
  }

  private keyOf(order: number): number {
    const words = this.orders.clientId(order);
    return words[0] === 0 ? NO_KEY : this.keyFor(this.orders.account(order), words);
  }

  private isOf(order: number, account: number, words: ClientIdWords): boolean {
    if (this.orders.account(order) !== account) return false;
    const own = this.orders.clientId(order);
    return own.every((word, i) => word === words[i]);
  }
}
