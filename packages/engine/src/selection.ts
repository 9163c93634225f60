/**
 * The best of many items, in bounded memory: a heap of at most `limit` entries with the worst one at
 * its root. The order is total (weight, largest first, then tie, smallest first), so the result does
 * not depend on the order in which items are offered.
 */
export class Selection {
  count = 0;
  private limit = 0;
  private readonly weights: Float64Array;
  private readonly ties: Float64Array;
  private readonly items: Int32Array;

  constructor(capacity: number) {
    this.weights = new Float64Array(capacity);
    this.ties = new Float64Array(capacity);
    this.items = new Int32Array(capacity);
  }

  /** Empties it; keeps the best `limit` of what follows, at most its capacity. */
  begin(limit: number): void {
    this.count = 0;
    this.limit = Math.min(limit, this.weights.length);
  }

  get isFull(): boolean {
    return this.count === this.limit;
  }

  /** An item of a lower weight would not be kept. */
  get floor(): number {
    if (this.count < this.limit) return Number.NEGATIVE_INFINITY;
    return this.limit === 0 ? Number.POSITIVE_INFINITY : this.weights[0]!;
  }

  /** Ties are distinct. */
  offer(weight: number, tie: number, item: number): void {
    if (this.count < this.limit) {
      this.rise(this.count++, weight, tie, item);
      return;
    }
    if (this.limit === 0 || weight < this.weights[0]!) return;
    if (weight === this.weights[0]! && tie > this.ties[0]!) return;
    this.sink(this.count, weight, tie, item);
  }

  /** Puts the best entry first. Nothing may be offered after it. */
  sort(): void {
    const { weights, ties, items } = this;
    for (let end = this.count - 1; end > 0; end--) {
      const weight = weights[end]!;
      const tie = ties[end]!;
      const item = items[end]!;
      this.put(end, weights[0]!, ties[0]!, items[0]!);
      this.sink(end, weight, tie, item);
    }
  }

  /** The i-th entry; after `sort` the i-th best. */
  weight(i: number): number {
    return this.weights[i]!;
  }
  tie(i: number): number {
    return this.ties[i]!;
  }
  item(i: number): number {
    return this.items[i]!;
  }

  private rise(from: number, weight: number, tie: number, item: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.isWorse(weight, tie, parent)) break;
      this.put(at, this.weights[parent]!, this.ties[parent]!, this.items[parent]!);
      at = parent;
    }
    this.put(at, weight, tie, item);
  }

  /** Replaces the root of the first `count` entries. */
  private sink(count: number, weight: number, tie: number, item: number): void {
    const { weights, ties, items } = this;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= count) break;
      if (child + 1 < count && this.isWorse(weights[child + 1]!, ties[child + 1]!, child)) child++;
      if (this.isWorse(weight, tie, child)) break;
      this.put(at, weights[child]!, ties[child]!, items[child]!);
      at = child;
    }
    this.put(at, weight, tie, item);
  }

  private isWorse(weight: number, tie: number, than: number): boolean {
    const other = this.weights[than]!;
    return weight < other || (weight === other && tie > this.ties[than]!);
  }

  private put(at: number, weight: number, tie: number, item: number): void {
    this.weights[at] = weight;
    this.ties[at] = tie;
    this.items[at] = item;
  }
}
