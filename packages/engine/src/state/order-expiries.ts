/**
 * Open orders that expire, the soonest first, equal times by id: a binary heap of rows of extras that
 * knows where each row is, so that an order that ends leaves it. It holds open orders only, whatever
 * was placed, amended and canceled before. Derived from the extras.
 */
import { int32, widen } from "./memory.js";

const NOWHERE = -1;

interface Expiring {
  orderId(row: number): number;
  expiresAtMs(row: number): number;
}

export class OrderExpiries {
  size = 0;
  private heap = int32(16);
  private places = int32(16).fill(NOWHERE);

  constructor(private readonly extras: Expiring) {}

  /** When the first one expires, or infinity. */
  nextTime(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : this.extras.expiresAtMs(this.heap[0]!);
  }

  /** Id of the order that expires first; only when there is one. */
  firstOrder(): number {
    return this.extras.orderId(this.heap[0]!);
  }

  /** Adds a row whose words are written; they must not change while it is here. */
  add(row: number): void {
    if (this.size === this.heap.length) this.heap = widen(this.heap, int32(2 * this.size));
    while (row >= this.places.length) {
      const wider = int32(2 * this.places.length).fill(NOWHERE);
      this.places = widen(this.places, wider);
    }
    const place = this.size++;
    this.put(place, row);
    this.rise(place);
  }

  /** Removes a row if it is here. */
  remove(row: number): void {
    const place = row < this.places.length ? this.places[row]! : NOWHERE;
    if (place === NOWHERE) return;
    this.places[row] = NOWHERE;
    const last = this.heap[--this.size]!;
    if (last === row) return;
    this.put(place, last);
    this.rise(place);
    this.sink(this.places[last]!);
  }

  clear(): void {
    this.size = 0;
    this.places.fill(NOWHERE);
  }

  private put(place: number, row: number): void {
    this.heap[place] = row;
    this.places[row] = place;
  }

  private rise(from: number): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.isLess(place, parent)) return;
      this.swap(place, parent);
      place = parent;
    }
  }

  private sink(from: number): void {
    let place = from;
    for (;;) {
      const left = 2 * place + 1;
      const right = left + 1;
      let least = place;
      if (left < this.size && this.isLess(left, least)) least = left;
      if (right < this.size && this.isLess(right, least)) least = right;
      if (least === place) return;
      this.swap(place, least);
      place = least;
    }
  }

  private isLess(a: number, b: number): boolean {
    const { extras, heap } = this;
    const difference = extras.expiresAtMs(heap[a]!) - extras.expiresAtMs(heap[b]!);
    if (difference !== 0) return difference < 0;
    return extras.orderId(heap[a]!) < extras.orderId(heap[b]!);
  }

  private swap(a: number, b: number): void {
    const row = this.heap[a]!;
    this.put(a, this.heap[b]!);
    this.put(b, row);
  }
}
