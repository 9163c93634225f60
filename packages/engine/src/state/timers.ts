/**
 * Times by id, least (time, id) first, at most one per id: a binary heap that knows where each id is,
 * so that a time can be changed or removed. Its size is that of what is set now, however often a time
 * was changed.
 */
export class Timers {
  private readonly times: number[] = [];
  private readonly ids: number[] = [];
  private readonly places = new Map<number, number>();

  get size(): number {
    return this.ids.length;
  }

  /** Sets the time of an id, or replaces it. */
  set(id: number, time: number): void {
    const place = this.places.get(id) ?? this.ids.length;
    this.put(place, time, id);
    this.rise(place);
    this.sink(this.places.get(id)!);
  }

  delete(id: number): void {
    const place = this.places.get(id);
    if (place === undefined) return;
    this.places.delete(id);
    const time = this.times.pop()!;
    const last = this.ids.pop()!;
    if (last === id) return;
    this.put(place, time, last);
    this.rise(place);
    this.sink(this.places.get(last)!);
  }

  /** The least time, or infinity. */
  nextTime(): number {
    return this.times[0] ?? Number.POSITIVE_INFINITY;
  }

  /** Removes the first id and returns it; only when there is one. */
  pop(): number {
    const id = this.ids[0]!;
    this.delete(id);
    return id;
  }

  clear(): void {
    this.times.length = 0;
    this.ids.length = 0;
    this.places.clear();
  }

  private put(place: number, time: number, id: number): void {
    this.times[place] = time;
    this.ids[place] = id;
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
      if (left < this.ids.length && this.isLess(left, least)) least = left;
      if (right < this.ids.length && this.isLess(right, least)) least = right;
      if (least === place) return;
      this.swap(place, least);
      place = least;
    }
  }

  private isLess(a: number, b: number): boolean {
    const difference = this.times[a]! - this.times[b]!;
    return difference !== 0 ? difference < 0 : this.ids[a]! < this.ids[b]!;
  }

  private swap(a: number, b: number): void {
    const time = this.times[a]!;
    const id = this.ids[a]!;
    this.put(a, this.times[b]!, this.ids[b]!);
    this.put(b, time, id);
  }
}
