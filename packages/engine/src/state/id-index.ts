/**
 * A hash table from id (a number ≥ 1) to row: open addressing with linear probing over typed arrays,
 * deletion by shifting back, so it neither allocates per entry nor collects tombstones. A Map costs
 * about five times as much per entry. Where the rows are those of a table that has their ids (orders), the
 * slots need not have them, too: `RowSlots`.
 *
 * A large one grows while it is used: entries go into a larger table from then on, and each change
 * moves a few of the old ones.
 *
 * Traders choose which of their orders stay open. The seed keeps them from choosing ids that follow
 * each other in the table.
 */
import { float64, int32 } from "./memory.js";
import { FIXED_SEED, type HashSeed } from "./seeded-hash.js";

/** No row. */
export const NONE = -1;

/** A table of no more slots than this is moved in one go. */
const SMALL_SLOTS = 1 << 13;
/** Slots of the old table that each change moves. */
const MOVED_SLOTS = 32;

/** Rows whose first word is their id, of 16 words each. */
interface RowsWithIds {
  readonly data: Float64Array;
}

export class IdIndex {
  private slots: Slots;
  /** While the table grows: what is not moved yet, and the next slot to move. */
  private old: Slots | null = null;
  private moved = 0;

  /** With `rows`, an id that is set has none, and that of a row stays as it is until it is deleted. */
  constructor(
    capacity = 1 << 10,
    private readonly seed: HashSeed = FIXED_SEED,
    private readonly rows: RowsWithIds | null = null,
  ) {
    this.slots = this.slotsOf(capacity);
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
    this.slots = this.slotsOf(slots.capacity * 2);
    // From the end: a deletion shifts entries toward lower slots, which are still to come.
    this.moved = slots.capacity;
    if (slots.capacity <= SMALL_SLOTS) while (this.old !== null) this.moveSome();
  }

  private slotsOf(capacity: number): Slots {
    const { seed, rows } = this;
    return rows === null ? new PairSlots(capacity, seed) : new RowSlots(capacity, seed, rows);
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

abstract class Slots {
  size = 0;
  protected readonly mask: number;
  private readonly first: number;
  private readonly second: number;

  constructor(
    readonly capacity: number,
    seed: HashSeed,
  ) {
    this.mask = capacity - 1;
    this.first = seed[0] | 0;
    this.second = seed[1] | 1;
  }

  get isHalfFull(): boolean {
    return this.size * 2 > this.mask;
  }

  /** The slot that an id would be in if nothing were in its way. */
  protected home(id: number): number {
    return spread(id, this.first, this.second) & this.mask;
  }

  abstract get(id: number): number;
  abstract set(id: number, row: number): void;
  abstract delete(id: number): void;
  /** Moves the entry of a slot, if there is one, into another table. */
  abstract moveTo(other: Slots, slot: number): void;
  abstract clear(): void;
}

/** Pairs of id and row, so that a lookup reads one cache line. */
class PairSlots extends Slots {
  private readonly pairs: Float64Array;

  constructor(capacity: number, seed: HashSeed) {
    super(capacity, seed);
    this.pairs = float64(2 * capacity);
  }

  get(id: number): number {
    const { pairs, mask } = this;
    let slot = this.home(id);
    for (;;) {
      const key = pairs[2 * slot]!;
      if (key === id) return pairs[2 * slot + 1]!;
      if (key === 0) return -1;
      slot = (slot + 1) & mask;
    }
  }

  set(id: number, row: number): void {
    const { pairs, mask } = this;
    let slot = this.home(id);
    while (pairs[2 * slot] !== 0 && pairs[2 * slot] !== id) slot = (slot + 1) & mask;
    if (pairs[2 * slot] === 0) this.size++;
    pairs[2 * slot] = id;
    pairs[2 * slot + 1] = row;
  }

  delete(id: number): void {
    const { pairs, mask } = this;
    let slot = this.home(id);
    while (pairs[2 * slot] !== id) {
      if (pairs[2 * slot] === 0) return;
      slot = (slot + 1) & mask;
    }
    this.empty(slot);
  }

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
      const home = this.home(key);
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

/** Bits of an entry that say how far it is from its home; this far or farther. */
const FAR_BITS = 6;
const FAR = (1 << FAR_BITS) - 1;

/**
 * Entries of 4 bytes: row + 1, and the distance to the home slot of its id. An entry whose distance is
 * not that of the slot to the home of an id that is looked up is another's, so of other orders' rows
 * next to none is read.
 */
class RowSlots extends Slots {
  private readonly entries: Int32Array;

  constructor(
    capacity: number,
    seed: HashSeed,
    private readonly rows: RowsWithIds,
  ) {
    super(capacity, seed);
    this.entries = int32(capacity);
  }

  get(id: number): number {
    const slot = this.find(id);
    return slot === NONE ? NONE : (this.entries[slot]! >>> FAR_BITS) - 1;
  }

  set(id: number, row: number): void {
    const { entries, mask } = this;
    const home = this.home(id);
    let slot = home;
    while (entries[slot] !== 0) slot = (slot + 1) & mask;
    entries[slot] = ((row + 1) << FAR_BITS) | Math.min(FAR, (slot - home) & mask);
    this.size++;
  }

  delete(id: number): void {
    const slot = this.find(id);
    if (slot !== NONE) this.empty(slot);
  }

  moveTo(other: Slots, slot: number): void {
    // Emptying shifts the entries after it: the slot may have another one.
    while (this.entries[slot] !== 0) {
      const row = (this.entries[slot]! >>> FAR_BITS) - 1;
      other.set(this.idOf(row), row);
      this.empty(slot);
    }
  }

  clear(): void {
    this.entries.fill(0);
    this.size = 0;
  }

  private find(id: number): number {
    const { entries, mask } = this;
    let slot = this.home(id);
    for (let distance = 0; ; distance++) {
      const entry = entries[slot]!;
      if (entry === 0) return NONE;
      if ((entry & FAR) === Math.min(FAR, distance) && this.idOf((entry >>> FAR_BITS) - 1) === id) {
        return slot;
      }
      slot = (slot + 1) & mask;
    }
  }

  private empty(at: number): void {
    const { entries, mask } = this;
    this.size--;
    let hole = at;
    let slot = at;
    for (;;) {
      slot = (slot + 1) & mask;
      const entry = entries[slot]!;
      if (entry === 0) break;
      let distance = entry & FAR;
      if (distance === FAR) {
        distance = (slot - this.home(this.idOf((entry >>> FAR_BITS) - 1))) & mask;
      }
      const gap = (slot - hole) & mask;
      // An entry may move into the hole unless its home is after the hole.
      if (distance < gap) continue;
      entries[hole] = (entry & ~FAR) | Math.min(FAR, distance - gap);
      hole = slot;
    }
    entries[hole] = 0;
  }

  private idOf(row: number): number {
    return this.rows.data[row * 16]!;
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
