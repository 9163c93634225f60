/**
 * The pending stops of one market, side and trigger. Those that the mark has not reached are sorted by price
 * in chunks; a tick moves the chunks that the mark has passed, whole, to the reached ones, so that
 * reaching 100,000 stops costs some hundred moves. Reached stops wait for service in no order. Those
 * that close their position stay after they were triggered, until there is nothing left to close.
 *
 * Everything here is derived from the tables of orders and extras and from `VenueState.reaches`.
 */
import { LONG, type Side, STOP_TRIGGER, type TriggerCode } from "../commands.js";
import { LEVEL, LINKS, NONE, type OrderStore } from "./orders.js";
import {
  CHUNK_STOPS,
  CLOSE_POSITION_STOP,
  PLAIN_STOP,
  REACHED,
  REDUCE_ONLY_STOP,
  StopChunk,
  TRIGGERED,
  UNREACHED,
} from "./stop-chunk.js";

/** A chunk with no more stops than this is merged into another. */
const FEW = CHUNK_STOPS / 8;

export class StopBook {
  /** Chunks of stops that were reached and wait. */
  readonly reached: StopChunk[] = [];
  /** Chunks of stops that were triggered and close what they find. */
  readonly triggered: StopChunk[] = [];
  /** 1 where a rising mark reaches its stops, −1 where a falling one does. */
  readonly sign: 1 | -1;
  private readonly pending: StopChunk[] = [];
  private readonly chunks: StopChunk[] = [];
  private readonly free: StopChunk[] = [];
  /** Seq of a tick → how many stops that it reached still wait. */
  private readonly waiting = new Map<number, number>();

  constructor(
    readonly side: Side,
    trigger: TriggerCode,
    private readonly orders: OrderStore,
  ) {
    this.sign = (side === LONG) === (trigger === STOP_TRIGGER) ? 1 : -1;
  }

  /** How many stops wait that the tick of that seq reached. */
  waitingSince(seq: number): number {
    return this.waiting.get(seq) ?? 0;
  }

  /** Adds a pending stop. */
  add(order: number): void {
    const key = this.sign * this.orders.price(order);
    const rank = this.orders.rank(order);
    const { pending } = this;
    let i = this.indexOf(key, rank);
    if (i < 0) {
      if (pending.length === 0) pending.push(this.allocate(UNREACHED));
      i = 0;
    }
    let chunk = pending[i]!;
    let at = chunk.find(key, rank);
    if (chunk.count === CHUNK_STOPS) {
      chunk = this.split(i, at);
      at = chunk.find(key, rank);
    }
    chunk.open(at, 1);
    this.write(chunk, at, order, key, rank, 0);
  }

  /** Adds a stop that the tick of that seq has reached. */
  addReached(order: number, seq: number): void {
    this.appendOne(this.tailWithRoom(this.reached, 1), order, seq);
    this.tally(seq, 1);
  }

  /** Adds a stop that was triggered and closes what it finds. */
  addTriggered(order: number): void {
    this.appendOne(this.tailWithRoom(this.triggered, 1), order, 0);
  }

  remove(order: number): void {
    const chunk = this.chunks[this.orders.links[order * LINKS + LEVEL]!]!;
    if (chunk.waiting !== UNREACHED) {
      this.removeReached(chunk, order);
      return;
    }
    const key = this.sign * this.orders.price(order);
    const rank = this.orders.rank(order);
    const i = this.indexOf(key, rank);
    chunk.close(chunk.find(key, rank), 1);
    if (chunk.count <= FEW) this.shrink(i);
  }

  /** Moves the stops that a mark reaches to the reached ones; returns their number. */
  reach(markTicks: number, seq: number): number {
    const limit = this.sign * markTicks;
    const { pending } = this;
    let moved = 0;
    let whole = 0;
    while (whole < pending.length) {
      const chunk = pending[whole]!;
      if (chunk.keys[chunk.count - 1]! > limit) break;
      moved += chunk.count;
      this.moveWhole(chunk, seq);
      whole++;
    }
    if (whole > 0) pending.splice(0, whole);
    const first = pending[0];
    if (first !== undefined) {
      const stops = first.find(limit, Number.POSITIVE_INFINITY);
      if (stops > 0) {
        first.reachedAt.fill(seq, 0, stops);
        this.append(this.tailWithRoom(this.reached, stops), first, stops);
        first.close(0, stops);
        moved += stops;
        if (first.count <= FEW) this.shrink(0);
      }
    }
    if (moved > 0) this.tally(seq, moved);
    return moved;
  }

  clear(): void {
    for (const chunk of [...this.pending, ...this.reached, ...this.triggered]) this.release(chunk);
    this.pending.length = 0;
    this.reached.length = 0;
    this.triggered.length = 0;
    this.waiting.clear();
  }

  /**
   * All stops, for audits: those not reached in order of their keys, then the reached ones with the seq
   * of that tick, then the triggered ones.
   */
  forEach(visit: (order: number, reachedAt: number, isTriggered: boolean) => void): void {
    for (const chunk of [...this.pending, ...this.reached, ...this.triggered]) {
      for (let i = 0; i < chunk.count; i++) {
        const reachedAt = chunk.waiting === REACHED ? chunk.reachedAt[i]! : 0;
        visit(chunk.orders[i]!, reachedAt, chunk.waiting === TRIGGERED);
      }
    }
  }

  private write(
    chunk: StopChunk,
    at: number,
    order: number,
    key: number,
    rank: number,
    seq: number,
  ): void {
    const { orders } = this;
    chunk.keys[at] = key;
    chunk.ranks[at] = rank;
    chunk.ids[at] = orders.id(order);
    chunk.lots[at] = orders.remaining(order);
    chunk.reachedAt[at] = seq;
    chunk.orders[at] = order;
    chunk.positions[at] = orders.position(order);
    chunk.accounts[at] = orders.account(order);
    chunk.kinds[at] = this.kindOf(order);
    orders.links[order * LINKS + LEVEL] = chunk.number;
  }

  /** Index of the last pending chunk that begins at or before (key, rank), or −1. */
  private indexOf(key: number, rank: number): number {
    const { pending } = this;
    let low = 0;
    let high = pending.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const chunk = pending[middle]!;
      if (chunk.isBefore(0, key, rank) || chunk.ranks[0] === rank) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** Makes room in a full chunk for an entry at an index; returns the chunk it belongs to. */
  private split(i: number, at: number): StopChunk {
    const chunk = this.pending[i]!;
    const added = this.allocate(UNREACHED);
    this.pending.splice(i + 1, 0, added);
    // Stops that arrive in order fill their chunks.
    const from = at === CHUNK_STOPS ? CHUNK_STOPS : CHUNK_STOPS / 2;
    added.copy(chunk, from, CHUNK_STOPS, 0);
    added.count = CHUNK_STOPS - from;
    chunk.count = from;
    this.relink(added, 0);
    return at >= from ? added : chunk;
  }

  /** Drops a pending chunk that is empty; merges one with few stops into a neighbour. */
  private shrink(i: number): void {
    const { pending } = this;
    const chunk = pending[i]!;
    if (chunk.count > 0) {
      const after = pending[i + 1];
      const before = pending[i - 1];
      if (after !== undefined && hasRoom(after)) {
        after.open(0, chunk.count);
        after.copy(chunk, 0, chunk.count, 0);
        this.relink(after, 0, chunk.count);
      } else if (before !== undefined && hasRoom(before)) {
        this.append(before, chunk, chunk.count);
      } else {
        return;
      }
    }
    pending.splice(i, 1);
    this.release(chunk);
  }

  private moveWhole(chunk: StopChunk, seq: number): void {
    chunk.reachedAt.fill(seq, 0, chunk.count);
    if (chunk.count <= FEW) {
      this.append(this.tailWithRoom(this.reached, chunk.count), chunk, chunk.count);
      this.release(chunk);
      return;
    }
    chunk.waiting = REACHED;
    this.reached.push(chunk);
  }

  private removeReached(chunk: StopChunk, order: number): void {
    const at = chunk.orders.subarray(0, chunk.count).indexOf(order);
    const isTriggered = chunk.waiting === TRIGGERED;
    const chunks = isTriggered ? this.triggered : this.reached;
    if (!isTriggered) this.tally(chunk.reachedAt[at]!, -1);
    const last = --chunk.count;
    if (at < last) chunk.move(last, at);
    if (chunk.count > FEW) return;
    const tail = chunks[chunks.length - 1]!;
    if (chunk.count > 0 && (chunk === tail || !hasRoom(tail))) return;
    if (chunk.count > 0) this.append(tail, chunk, chunk.count);
    chunks[chunks.indexOf(chunk)] = tail;
    chunks.pop();
    this.release(chunk);
  }

  /** The last of the reached or triggered chunks, or a new one if that has no room. */
  private tailWithRoom(chunks: StopChunk[], stops: number): StopChunk {
    const tail = chunks[chunks.length - 1];
    if (tail !== undefined && tail.count + stops <= CHUNK_STOPS) return tail;
    const chunk = this.allocate(chunks === this.reached ? REACHED : TRIGGERED);
    chunks.push(chunk);
    return chunk;
  }

  private appendOne(chunk: StopChunk, order: number, seq: number): void {
    const key = this.sign * this.orders.price(order);
    this.write(chunk, chunk.count++, order, key, this.orders.rank(order), seq);
  }

  private kindOf(order: number): number {
    const extras = this.orders.extrasRow(order);
    if (extras !== NONE && this.orders.extras.closesPosition(extras)) return CLOSE_POSITION_STOP;
    return this.orders.isReduceOnly(order) ? REDUCE_ONLY_STOP : PLAIN_STOP;
  }

  /** Appends the first stops of a chunk to another. */
  private append(to: StopChunk, from: StopChunk, stops: number): void {
    const at = to.count;
    to.copy(from, 0, stops, at);
    to.count = at + stops;
    this.relink(to, at);
  }

  private relink(chunk: StopChunk, from: number, to = chunk.count): void {
    const { links } = this.orders;
    for (let i = from; i < to; i++) links[chunk.orders[i]! * LINKS + LEVEL] = chunk.number;
  }

  private tally(seq: number, delta: number): void {
    const count = this.waitingSince(seq) + delta;
    if (count === 0) this.waiting.delete(seq);
    else this.waiting.set(seq, count);
  }

  private allocate(waiting: StopChunk["waiting"]): StopChunk {
    let chunk = this.free.pop();
    if (chunk === undefined) {
      chunk = new StopChunk(this.chunks.length);
      this.chunks.push(chunk);
    }
    chunk.waiting = waiting;
    return chunk;
  }

  private release(chunk: StopChunk): void {
    chunk.count = 0;
    this.free.push(chunk);
  }
}

function hasRoom(chunk: StopChunk): boolean {
  return chunk.count <= CHUNK_STOPS / 2;
}
