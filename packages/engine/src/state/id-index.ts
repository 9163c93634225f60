/**
 * A hash table from order id (a seq ≥ 1) to row: open addressing with linear probing over typed
 * arrays, deletion by shifting back, so it neither allocates per entry nor collects tombstones. A
 * Map costs about five times as much per order.
 */
export class IdIndex {
  private keys: Float64Array;
  private values: Int32Array;
  private mask: number;
  private size = 0;

  constructor(capacity = 1 << 10) {
    this.keys = new Float64Array(capacity);
    this.values = new Int32Array(capacity);
    this.mask = capacity - 1;
  }

  /** The row, or −1. */
  get(id: number): number {
    // 0 marks an empty slot and would match one.
    if (!(id > 0)) return -1;
    const { keys, mask } = this;
    let slot = spread(id) & mask;
    for (;;) {
      const key = keys[slot]!;
      if (key === id) return this.values[slot]!;
      if (key === 0) return -1;
      slot = (slot + 1) & mask;
    }
  }

  set(id: number, row: number): void {
    if (this.size * 2 > this.mask) this.grow();
    const { keys, mask } = this;
    let slot = spread(id) & mask;
    while (keys[slot] !== 0 && keys[slot] !== id) slot = (slot + 1) & mask;
    if (keys[slot] === 0) this.size++;
    keys[slot] = id;
    this.values[slot] = row;
  }

  delete(id: number): void {
    const { keys, values, mask } = this;
    let slot = spread(id) & mask;
    while (keys[slot] !== id) {
      if (keys[slot] === 0) return;
      slot = (slot + 1) & mask;
    }
    this.size--;
    let hole = slot;
    for (;;) {
      slot = (slot + 1) & mask;
      const key = keys[slot]!;
      if (key === 0) break;
      const home = spread(key) & mask;
      // An entry may move into the hole unless its home is after the hole.
      if (((slot - home) & mask) >= ((slot - hole) & mask)) {
        keys[hole] = key;
        values[hole] = values[slot]!;
        hole = slot;
      }
    }
    keys[hole] = 0;
  }

  clear(): void {
    this.keys.fill(0);
    this.size = 0;
  }

  private grow(): void {
    const { keys, values } = this;
    const capacity = keys.length * 2;
    this.keys = new Float64Array(capacity);
    this.values = new Int32Array(capacity);
    this.mask = capacity - 1;
    this.size = 0;
    for (let i = 0; i < keys.length; i++) if (keys[i] !== 0) this.set(keys[i]!, values[i]!);
  }
}

/** Ids are nearly consecutive: multiplying by an odd constant spreads them over the high bits. */
function spread(id: number): number {
  const low = id | 0;
  const high = (id / 4_294_967_296) | 0;
  const mixed = Math.imul(low ^ Math.imul(high, 0x85eb_ca6b), 0x9e37_79b1);
  return mixed ^ (mixed >>> 15);
}
