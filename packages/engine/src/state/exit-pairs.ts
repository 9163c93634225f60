/**
 * The exits that are attached to orders, in pairs by their order, and for each position those that cover
 * lots of it, in the order of their ids. Derived from the table of orders.
 */
import { type ExitKind, exitKindOf, parentOf, TAKE_PROFIT_EXIT } from "@perpgate/protocol/order-id";
import { IdIndex, NONE } from "./id-index.js";
import { float64, grown, int32, widen } from "./memory.js";
import type { OrderStore } from "./orders.js";
import type { PositionStore } from "./positions.js";
import { FIXED_SEED, type HashSeed } from "./seeded-hash.js";

/** `older` of a pair that covers nothing and is in no list. */
const UNLISTED = -2;

export class ExitPairs {
  /** Pairs with an open exit. */
  size = 0;
  private readonly index: IdIndex;
  private ids = float64(16);
  /** The rows of its exits, or NONE. */
  private takeProfits = int32(16);
  private stopLosses = int32(16);
  /** Its neighbours in the list of its position. */
  private older = int32(16);
  private newer = int32(16);
  private readonly free: number[] = [];
  private used = 0;

  constructor(
    private readonly orders: OrderStore,
    seed: HashSeed = FIXED_SEED,
  ) {
    this.index = new IdIndex(16, seed);
  }

  /** The pair of the order, or NONE. */
  find(orderId: number): number {
    return this.size === 0 ? NONE : this.index.get(orderId);
  }

  /** The row of an exit of the pair, or NONE. */
  exit(pair: number, kind: ExitKind): number {
    return kind === TAKE_PROFIT_EXIT ? this.takeProfits[pair]! : this.stopLosses[pair]!;
  }

  /** The most that one of its exits covers. */
  lots(pair: number): number {
    const takeProfit = this.takeProfits[pair]!;
    const stopLoss = this.stopLosses[pair]!;
    return Math.max(
      takeProfit === NONE ? 0 : this.orders.remaining(takeProfit),
      stopLoss === NONE ? 0 : this.orders.remaining(stopLoss),
    );
  }

  /** Adds an exit to the pair of its order; returns the pair. */
  add(exit: number): number {
    const id = this.orders.id(exit);
    const orderId = parentOf(id);
    const known = this.find(orderId);
    const pair = known === NONE ? this.allocate(orderId) : known;
    this.set(pair, id, exit);
    return pair;
  }

  /** Removes the exit of that id; the pair goes with its last one. */
  remove(id: number, positions: PositionStore, row: number): void {
    const pair = this.find(parentOf(id));
    if (pair === NONE) return;
    this.set(pair, id, NONE);
    if (this.takeProfits[pair] === NONE && this.stopLosses[pair] === NONE) {
      this.forget(pair, positions, row);
    } else {
      this.list(pair, positions, row);
    }
  }

  /** Puts the pair where its lots say: in the list of its position, or not. */
  list(pair: number, positions: PositionStore, row: number): void {
    const isListed = this.older[pair] !== UNLISTED;
    const covers = this.lots(pair) > 0;
    if (covers && !isListed) this.link(pair, positions, row);
    else if (!covers && isListed) this.unlink(pair, positions, row);
  }

  /** The pair before it in the list of its position, or NONE. */
  olderThan(pair: number): number {
    return this.older[pair]!;
  }

  orderId(pair: number): number {
    return this.ids[pair]!;
  }

  forget(pair: number, positions: PositionStore, row: number): void {
    if (this.older[pair] !== UNLISTED) this.unlink(pair, positions, row);
    this.index.delete(this.ids[pair]!);
    this.free.push(pair);
    this.size--;
  }

  clear(): void {
    this.index.clear();
    this.free.length = 0;
    this.used = 0;
    this.size = 0;
  }

  private set(pair: number, id: number, exit: number): void {
    if (exitKindOf(id) === TAKE_PROFIT_EXIT) this.takeProfits[pair] = exit;
    else this.stopLosses[pair] = exit;
  }

  /** From the newest on: most orders that fill are among the last. */
  private link(pair: number, positions: PositionStore, row: number): void {
    const id = this.ids[pair]!;
    let newer = NONE;
    let older = positions.newestPair(row);
    while (older !== NONE && this.ids[older]! > id) {
      newer = older;
      older = this.older[older]!;
    }
    this.older[pair] = older;
    this.newer[pair] = newer;
    if (older !== NONE) this.newer[older] = pair;
    if (newer === NONE) positions.setNewestPair(row, pair);
    else this.older[newer] = pair;
  }

  private unlink(pair: number, positions: PositionStore, row: number): void {
    const older = this.older[pair]!;
    const newer = this.newer[pair]!;
    if (older !== NONE) this.newer[older] = newer;
    if (newer === NONE) positions.setNewestPair(row, older);
    else this.older[newer] = older;
    this.older[pair] = UNLISTED;
  }

  private allocate(orderId: number): number {
    const pair = this.free.pop() ?? this.used++;
    if (pair >= this.ids.length) this.widen();
    this.ids[pair] = orderId;
    this.takeProfits[pair] = NONE;
    this.stopLosses[pair] = NONE;
    this.older[pair] = UNLISTED;
    this.index.set(orderId, pair);
    this.size++;
    return pair;
  }

  private widen(): void {
    const pairs = grown(this.ids.length);
    this.ids = widen(this.ids, float64(pairs));
    this.takeProfits = widen(this.takeProfits, int32(pairs));
    this.stopLosses = widen(this.stopLosses, int32(pairs));
    this.older = widen(this.older, int32(pairs));
    this.newer = widen(this.newer, int32(pairs));
  }
}
