/**
 * What is in flight, by ids that rise: an array, in which each id has its slot.
 *
 * Not a Map or a Set. One that is filled and emptied all the time moves to a new table every few entries,
 * and V8 has each table point to its successor. A table that has reached the old generation thus keeps all
 * later ones alive, with what they held, until the next full collection. Of what an order allocates at an
 * edge, a quarter was kept and copied for nothing.
 */

const FIRST_SLOTS = 256;
const IDS = 2 ** 32;

export class InFlight<T extends { readonly id: number }> {
  size = 0;
  lastId = 0;
  /** A power of two of them. */
  private slots = emptySlots<T>(FIRST_SLOTS);

  /** One that nothing in flight has. */
  nextId(): number {
    if (this.size === this.slots.length) this.grow();
    do this.lastId = (this.lastId + 1) % IDS;
    while (this.slots[this.slotOf(this.lastId)] !== undefined);
    return this.lastId;
  }

  /** With the last id that `nextId` has returned. */
  add(entry: T): void {
    this.slots[this.slotOf(entry.id)] = entry;
    this.size++;
  }

  /** Undefined if nothing in flight has that id. */
  get(id: number): T | undefined {
    const entry = this.slots[this.slotOf(id)];
    return entry?.id === id ? entry : undefined;
  }

  /** No-op for what is not in flight. */
  delete(entry: T): void {
    if (this.get(entry.id) !== entry) return;
    this.slots[this.slotOf(entry.id)] = undefined;
    this.size--;
  }

  /** Oldest first. */
  all(): readonly T[] {
    const age = ({ id }: T): number => (this.lastId - id) >>> 0;
    return this.slots.filter((entry) => entry !== undefined).sort((a, b) => age(b) - age(a));
  }

  private slotOf(id: number): number {
    return id & (this.slots.length - 1);
  }

  private grow(): void {
    const { slots } = this;
    this.slots = emptySlots(2 * slots.length);
    for (const entry of slots) {
      if (entry !== undefined) this.slots[this.slotOf(entry.id)] = entry;
    }
  }
}

function emptySlots<T>(count: number): (T | undefined)[] {
  return Array<T | undefined>(count).fill(undefined);
}
