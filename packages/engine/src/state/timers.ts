/**
 * Times by id (≥ 1), at most one per id, the least first, equal ones by a tie, which is the id unless
 * another one is given: a binary heap that knows where each id is, so that a time can be changed or removed. Its size is that of what is set now, however often
 * a time was changed; growing it copies nothing.
 */
import { IdIndex, NONE } from "./id-index.js";
import { FIXED_SEED, type HashSeed } from "./seeded-hash.js";
import { Float64Segments } from "./segments.js";

export class Timers {
  size = 0;
  private readonly times = new Float64Segments();
  private readonly ties = new Float64Segments();
  private readonly ids = new Float64Segments();
  private readonly places: IdIndex;

  constructor(seed: HashSeed = FIXED_SEED) {
    this.places = new IdIndex(undefined, seed);
  }

  /** Sets the time of an id, or replaces it. */
  set(id: number, time: number, tie = id): void {
    const known = this.places.get(id);
    const place = known === NONE ? this.size++ : known;
    this.put(place, time, tie, id);
    this.rise(place);
    this.sink(this.places.get(id));
  }

  delete(id: number): void {
    const place = this.places.get(id);
    if (place === NONE) return;
    this.places.delete(id);
    const end = --this.size;
    if (place === end) return;
    const last = this.ids.get(end);
    this.put(place, this.times.get(end), this.ties.get(end), last);
    this.rise(place);
    this.sink(this.places.get(last));
  }

  /** The least time, or infinity. */
  nextTime(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : this.times.get(0);
  }

  /** The first id; only when there is one. */
  first(): number {
    return this.ids.get(0);
  }

  /** Removes the first id and returns it; only when there is one. */
  pop(): number {
    const id = this.first();
    this.delete(id);
    return id;
  }

  /** The first ids whose time has come, at most `limit`; they stay set. */
  due(time: number, limit: number): number[] {
    const due: number[] = [];
    // Places whose parent is due already: the next one is among them.
    const places = [0];
    while (due.length < limit) {
      let first = NONE;
      for (let i = 0; i < places.length; i++) {
        if (places[i]! >= this.size || this.times.get(places[i]!) > time) continue;
        if (first === NONE || this.isLess(places[i]!, places[first]!)) first = i;
      }
      if (first === NONE) return due;
      const place = places[first]!;
      due.push(this.ids.get(place));
      places[first] = 2 * place + 1;
      places.push(2 * place + 2);
    }
    return due;
  }

  clear(): void {
    this.size = 0;
    this.places.clear();
  }

  private put(place: number, time: number, tie: number, id: number): void {
    this.times.set(place, time);
    this.ties.set(place, tie);
    this.ids.set(place, id);
    this.places.set(id, place);
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
    const difference = this.times.get(a) - this.times.get(b);
    return difference !== 0 ? difference < 0 : this.ties.get(a) < this.ties.get(b);
  }

  private swap(a: number, b: number): void {
    const time = this.times.get(a);
    const tie = this.ties.get(a);
    const id = this.ids.get(a);
    this.put(a, this.times.get(b), this.ties.get(b), this.ids.get(b));
    this.put(b, time, tie, id);
  }
}
