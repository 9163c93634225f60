/**
 * One side of a book: price levels sorted in typed arrays with the best one last, so that work near
 * the best price moves few words, however deep the book is. Keys rise toward the best price: a bid's
 * key is its price, an ask's key is minus its price.
 *
 * Orders within a level are a linked list through `OrderStore.links`, lowest rank first. Everything here
 * is derived from the order table.
 */
import { float64, grown, int32, widen } from "./memory.js";
import { LEVEL, LEVEL_NEXT, LEVEL_PREV, LINKS, NONE, type OrderStore } from "./orders.js";

export class Ladder {
  /** Number of price levels. */
  count = 0;
  private keys = float64(64);
  private slots = int32(64);
  private lotsOf = float64(64);
  private headOf = int32(64);
  private tailOf = int32(64);
  private free = int32(64);
  private freeCount = 0;
  private slotCount = 0;

  /** `sign` is 1 where the best price is the highest (bids), −1 where it is the lowest (asks). */
  constructor(
    readonly sign: 1 | -1,
    private readonly orders: OrderStore,
  ) {}

  /** Best price in ticks; only when `count` > 0. */
  bestTicks(): number {
    return this.sign * this.keys[this.count - 1]!;
  }

  /** The oldest order of the best level. */
  bestOrder(): number {
    return this.headOf[this.slots[this.count - 1]!]!;
  }

  /** Price of the i-th level from the best, 0 being the best. */
  ticksAt(i: number): number {
    return this.sign * this.keys[this.count - 1 - i]!;
  }

  lotsAt(i: number): number {
    return this.lotsOf[this.slots[this.count - 1 - i]!]!;
  }

  firstOrderAt(i: number): number {
    return this.headOf[this.slots[this.count - 1 - i]!]!;
  }

  /** Appends the order at the end of its price's queue. */
  add(order: number, ticks: number, lots: number): void {
    const key = this.sign * ticks;
    const at = this.firstAtOrAbove(key);
    const slot =
      at < this.count && this.keys[at] === key ? this.slots[at]! : this.insertLevel(at, key);
    const links = this.orders.links;
    const base = order * LINKS;
    const tail = this.tailOf[slot]!;
    links[base + LEVEL] = slot;
    links[base + LEVEL_PREV] = tail;
    links[base + LEVEL_NEXT] = NONE;
    if (tail === NONE) this.headOf[slot] = order;
    else links[tail * LINKS + LEVEL_NEXT] = order;
    this.tailOf[slot] = order;
    this.lotsOf[slot] = this.lotsOf[slot]! + lots;
  }

  /** Takes lots off an order's level without removing the order. */
  reduce(order: number, lots: number): void {
    const slot = this.orders.links[order * LINKS + LEVEL]!;
    this.lotsOf[slot] = this.lotsOf[slot]! - lots;
  }

  /** Removes an order that still shows `lots` (0 if it filled). */
  remove(order: number, ticks: number, lots: number): void {
    const links = this.orders.links;
    const base = order * LINKS;
    const slot = links[base + LEVEL]!;
    const prev = links[base + LEVEL_PREV]!;
    const next = links[base + LEVEL_NEXT]!;
    if (prev === NONE) this.headOf[slot] = next;
    else links[prev * LINKS + LEVEL_NEXT] = next;
    if (next === NONE) this.tailOf[slot] = prev;
    else links[next * LINKS + LEVEL_PREV] = prev;
    this.lotsOf[slot] = this.lotsOf[slot]! - lots;
    if (this.headOf[slot] === NONE) this.removeLevel(this.firstAtOrAbove(this.sign * ticks), slot);
  }

  /**
   * Puts an order back that was removed. Orders come back in the reverse order of their removal, with
   * none added in between: then the neighbours that it still names are its neighbours again.
   */
  restore(order: number, ticks: number, lots: number): void {
    const links = this.orders.links;
    const base = order * LINKS;
    const slot = links[base + LEVEL]!;
    const prev = links[base + LEVEL_PREV]!;
    const next = links[base + LEVEL_NEXT]!;
    if (prev === NONE && next === NONE) {
      const key = this.sign * ticks;
      const inserted = this.insertLevel(this.firstAtOrAbove(key), key);
      if (inserted !== slot) throw new Error("levels are restored last first");
    }
    if (prev === NONE) this.headOf[slot] = order;
    else links[prev * LINKS + LEVEL_NEXT] = order;
    if (next === NONE) this.tailOf[slot] = order;
    else links[next * LINKS + LEVEL_PREV] = order;
    this.lotsOf[slot] = this.lotsOf[slot]! + lots;
  }

  clear(): void {
    this.count = 0;
    this.freeCount = 0;
    this.slotCount = 0;
  }

  /** Index of the first level whose key is ≥ key: doubling steps from the best, then bisection. */
  private firstAtOrAbove(key: number): number {
    const { keys, count } = this;
    let high = count;
    let step = 1;
    let low = count - 1;
    while (low >= 0 && keys[low]! >= key) {
      high = low;
      low -= step;
      step *= 2;
    }
    if (low < -1) low = -1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (keys[middle]! >= key) high = middle;
      else low = middle;
    }
    return high;
  }

  private insertLevel(at: number, key: number): number {
    if (this.count === this.keys.length) this.grow();
    const { keys, slots, count } = this;
    if (count - at > 48) {
      keys.copyWithin(at + 1, at, count);
      slots.copyWithin(at + 1, at, count);
    } else {
      for (let i = count; i > at; i--) {
        keys[i] = keys[i - 1]!;
        slots[i] = slots[i - 1]!;
      }
    }
    const slot = this.freeCount > 0 ? this.free[--this.freeCount]! : this.slotCount++;
    keys[at] = key;
    slots[at] = slot;
    this.count = count + 1;
    this.lotsOf[slot] = 0;
    this.headOf[slot] = NONE;
    this.tailOf[slot] = NONE;
    return slot;
  }

  private removeLevel(at: number, slot: number): void {
    const { keys, slots, count } = this;
    if (count - at > 48) {
      keys.copyWithin(at, at + 1, count);
      slots.copyWithin(at, at + 1, count);
    } else {
      for (let i = at + 1; i < count; i++) {
        keys[i - 1] = keys[i]!;
        slots[i - 1] = slots[i]!;
      }
    }
    this.count = count - 1;
    this.free[this.freeCount++] = slot;
  }

  private grow(): void {
    const capacity = grown(this.keys.length);
    this.keys = widen(this.keys, float64(capacity));
    this.slots = widen(this.slots, int32(capacity));
    this.lotsOf = widen(this.lotsOf, float64(capacity));
    this.headOf = widen(this.headOf, int32(capacity));
    this.tailOf = widen(this.tailOf, int32(capacity));
    this.free = widen(this.free, int32(capacity));
  }

  /** Whether every level's total equals the sum of its orders, in order of rank; for audits. */
  isConsistent(): boolean {
    for (let i = 0; i < this.count; i++) {
      let sum = 0;
      let rank = -1;
      let order = this.firstOrderAt(i);
      while (order !== NONE) {
        if (this.orders.rank(order) <= rank) return false;
        rank = this.orders.rank(order);
        sum += this.orders.remaining(order);
        order = this.orders.nextAtLevel(order);
      }
      if (sum !== this.lotsAt(i) || sum <= 0) return false;
      if (i > 0 && !(this.keys[this.count - 1 - i]! < this.keys[this.count - i]!)) return false;
    }
    return true;
  }
}
