/**
 * A few hundred stops of one market and side in parallel arrays, so that a pass over waiting stops
 * reads memory in sequence and never visits the rows of orders and positions.
 */
export const CHUNK_STOPS = 512;

/** What the stops of a chunk wait for. */
export const UNREACHED = 0;
export const REACHED = 1;
export const TRIGGERED = 2;
type Waiting = typeof UNREACHED | typeof REACHED | typeof TRIGGERED;

/** What `StopChunk.kinds` says of a stop. */
export const PLAIN_STOP = 0;
export const REDUCE_ONLY_STOP = 1;
export const CLOSE_POSITION_STOP = 2;

export class StopChunk {
  count = 0;
  /** Stops that were reached are in no order. */
  waiting: Waiting = UNREACHED;
  /** Price as a key that rises in the order in which the mark reaches it. */
  readonly keys = new Float64Array(CHUNK_STOPS);
  readonly ranks = new Float64Array(CHUNK_STOPS);
  readonly ids = new Float64Array(CHUNK_STOPS);
  readonly lots = new Float64Array(CHUNK_STOPS);
  /** Seq of the tick that reached it. */
  readonly reachedAt = new Float64Array(CHUNK_STOPS);
  readonly orders = new Int32Array(CHUNK_STOPS);
  readonly positions = new Int32Array(CHUNK_STOPS);
  readonly accounts = new Int32Array(CHUNK_STOPS);
  readonly kinds = new Uint8Array(CHUNK_STOPS);

  constructor(readonly number: number) {}

  /** Index of the first stop at or after (key, rank). */
  find(key: number, rank: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.isBefore(middle, key, rank)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  isBefore(i: number, key: number, rank: number): boolean {
    return this.keys[i]! < key || (this.keys[i]! === key && this.ranks[i]! < rank);
  }

  /** Makes room for `stops` entries at an index. */
  open(at: number, stops: number): void {
    if (at < this.count) this.shift(at + stops, at);
    this.count += stops;
  }

  /** Removes entries and keeps the order of the others. */
  close(at: number, stops: number): void {
    if (at + stops < this.count) this.shift(at, at + stops);
    this.count -= stops;
  }

  /** Copies entries of another chunk over those at an index. */
  copy(from: StopChunk, start: number, end: number, at: number): void {
    this.keys.set(from.keys.subarray(start, end), at);
    this.ranks.set(from.ranks.subarray(start, end), at);
    this.ids.set(from.ids.subarray(start, end), at);
    this.lots.set(from.lots.subarray(start, end), at);
    this.reachedAt.set(from.reachedAt.subarray(start, end), at);
    this.orders.set(from.orders.subarray(start, end), at);
    this.positions.set(from.positions.subarray(start, end), at);
    this.accounts.set(from.accounts.subarray(start, end), at);
    this.kinds.set(from.kinds.subarray(start, end), at);
  }

  /** Copies one entry over another of the same chunk. */
  move(from: number, to: number): void {
    this.keys[to] = this.keys[from]!;
    this.ranks[to] = this.ranks[from]!;
    this.ids[to] = this.ids[from]!;
    this.lots[to] = this.lots[from]!;
    this.reachedAt[to] = this.reachedAt[from]!;
    this.orders[to] = this.orders[from]!;
    this.positions[to] = this.positions[from]!;
    this.accounts[to] = this.accounts[from]!;
    this.kinds[to] = this.kinds[from]!;
  }

  private shift(to: number, from: number): void {
    const { count } = this;
    this.keys.copyWithin(to, from, count);
    this.ranks.copyWithin(to, from, count);
    this.ids.copyWithin(to, from, count);
    this.lots.copyWithin(to, from, count);
    this.reachedAt.copyWithin(to, from, count);
    this.orders.copyWithin(to, from, count);
    this.positions.copyWithin(to, from, count);
    this.accounts.copyWithin(to, from, count);
    this.kinds.copyWithin(to, from, count);
  }
}
