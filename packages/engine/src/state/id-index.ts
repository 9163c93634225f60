/**
 * A hash table from order id (a seq ≥ 1) to row: open addressing with linear probing over typed
 * arrays, deletion by shifting back, so it neither allocates per entry nor collects tombstones. A
 * Map costs about five times as much per order.
 *
 * A large one grows while it is used: entries go into a larger table from then on, and each change
 * moves a few of the old ones.
 *
 * Traders choose which of their orders stay open. The seed keeps them from choosing ids that follow
 * each other in the table.
 */
import { float64 } from "./memory.js";
import { FIXED_SEED, type HashSeed } from "./seeded-hash.js";

/** No row. */
export const NONE = -1;

/** A table of no more slots than this is moved in one go. */
const SMALL_SLOTS = 1 << 13;
/** Slots of the old table that each change moves. */
const MOVED_SLOTS = 32;

export class IdIndex {
  private slots: Slots;
  /** While the table grows: what is not moved yet, and the next slot to move. */
  private old: Slots | null = null;
  private moved = 0;

  constructor(
    capacity = 1 << 10,
    private readonly seed: HashSeed = FIXED_SEED,
  ) {
    this.slots = new Slots(capacity, seed);
  }

  /** The row, or −1. */
  get(id: number): number {
    // 0 marks an empty slot and would match one.
    if (!(id > 0)) return -1;
    const row = this.slots.get(id);
    return row < 0 && this.old !== null ? this.old.get(id) : row;
  }

  set(id: number, row: number): void {
    if (this.old !== null) {
      this.old.delete(id);
      this.moveSome();
    } else if (this.slots.isHalfFull) {
      this.grow();
    }
    this.slots.set(id, row);
  }

  delete(id: number): void {
    this.slots.delete(id);
    if (this.old === null) return;
    this.old.delete(id);
    this.moveSome();
  }

  clear(): void {
    this.slots.clear();
    this.old = null;
  }

  private grow(): void {
    const { slots } = this;
    this.old = slots;
    this.slots = new Slots(slots.capacity * 2, this.seed);
    // From the end: a deletion shifts entries toward lower slots, which are still to come.
    this.moved = slots.capacity;
    if (slots.capacity <= SMALL_SLOTS) while (this.old !== null) this.moveSome();
  }

  private moveSome(): void {
    const { old, slots } = this;
    if (old === null) return;
    const end = Math.max(0, this.moved - MOVED_SLOTS);
    while (this.moved > end) old.moveTo(slots, --this.moved);
    // What was shifted over the end of the table is found by another round.
    if (this.moved > 0) return;
    if (old.size === 0) this.old = null;
    else this.moved = old.capacity;
  }
}

/** Pairs of id and row, so that a lookup reads one cache line. */
class Slots {
  size = 0;
  private readonly pairs: Float64Array;
  private readonly mask: number;
  private readonly first: number;
  private readonly second: number;

  constructor(
    readonly capacity: number,
    seed: HashSeed,
  ) {
    this.pairs = float64(2 * capacity);
    this.mask = capacity - 1;
    this.first = seed[0] | 0;
    this.second = seed[1] | 1;
  }

  get isHalfFull(): boolean {
    return this.size * 2 > this.mask;
  }

  get(id: number): number {
    const { pairs, mask } = this;
    let slot = spread(id, this.first, this.second) & mask;
    for (;;) {
      const key = pairs[2 * slot]!;
      if (key === id) return pairs[2 * slot + 1]!;
      if (key === 0) return -1;
      slot = (slot + 1) & mask;
    }
  }

  set(id: number, row: number): void {
    const { pairs, mask } = this;
    let slot = spread(id, this.first, this.second) & mask;
    while (pairs[2 * slot] !== 0 && pairs[2 * slot] !== id) slot = (slot + 1) & mask;
    if (pairs[2 * slot] === 0) this.size++;
    pairs[2 * slot] = id;
    pairs[2 * slot + 1] = row;
  }

  delete(id: number): void {
    const { pairs, mask } = this;
    let slot = spread(id, this.first, this.second) & mask;
    while (pairs[2 * slot] !== id) {
      if (pairs[2 * slot] === 0) return;
      slot = (slot + 1) & mask;
    }
    this.empty(slot);
  }

  /** Moves the entry of a slot, if there is one, into another table. */
  moveTo(other: Slots, slot: number): void {
    // Emptying shifts the entries after it: the slot may have another one.
    while (this.pairs[2 * slot] !== 0) {
      other.set(this.pairs[2 * slot]!, this.pairs[2 * slot + 1]!);
      this.empty(slot);
    }
  }

  clear(): void {
    this.pairs.fill(0);
    this.size = 0;
  }

  private empty(at: number): void {
    const { pairs, mask } = this;
    this.size--;
    let hole = at;
    let slot = at;
    for (;;) {
      slot = (slot + 1) & mask;
      const key = pairs[2 * slot]!;
      if (key === 0) break;
      const home = spread(key, this.first, this.second) & mask;
      // An entry may move into the hole unless its home is after the hole.
      if (((slot - home) & mask) >= ((slot - hole) & mask)) {
        pairs[2 * hole] = key;
        pairs[2 * hole + 1] = pairs[2 * slot + 1]!;
        hole = slot;
      }
    }
    pairs[2 * hole] = 0;
  }
}

/**
 * Ids are nearly consecutive: four of them share a cache line. Which line depends on both parts of the
 * seed, of which the second is odd.
 */
export function spread(id: number, first: number, second: number): number {
  const low = id | 0;
  const high = (id / 4_294_967_296) | 0;
  let line = (low >>> 2) ^ Math.imul(high, 0x85eb_ca6b) ^ first;
  line = Math.imul(line ^ (line >>> 16), second);
  line = Math.imul(line ^ (line >>> 15), 0xc2b2_ae35);
  return ((line ^ (line >>> 15)) << 2) | (low & 3);
}
