/**
 * Ids that are due at a time, least (time, id) first: a binary heap without early removal. The owner
 * of an entry checks, when it is popped, whether it still applies. Growing it copies nothing.
 */
import { Float64Segments } from "./segments.js";

export class ExpiryQueue {
  private size = 0;
  private readonly times = new Float64Segments();
  private readonly ids = new Float64Segments();

  push(time: number, id: number): void {
    let i = this.size++;
    this.put(i, time, id);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!this.less(i, parent)) break;
      this.swap(i, parent);
      i = parent;
    }
  }

  /** The time of the first entry, or infinity. */
  nextTime(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : this.times.get(0);
  }

  pop(): number {
    const id = this.ids.get(0);
    const last = --this.size;
    if (last > 0) {
      this.put(0, this.times.get(last), this.ids.get(last));
      this.sink();
    }
    return id;
  }

  private sink(): void {
    let i = 0;
    for (;;) {
      const left = 2 * i + 1;
      const right = left + 1;
      let least = i;
      if (left < this.size && this.less(left, least)) least = left;
      if (right < this.size && this.less(right, least)) least = right;
      if (least === i) return;
      this.swap(i, least);
      i = least;
    }
  }

  private less(a: number, b: number): boolean {
    const difference = this.times.get(a) - this.times.get(b);
    return difference !== 0 ? difference < 0 : this.ids.get(a) < this.ids.get(b);
  }

  private put(i: number, time: number, id: number): void {
    this.times.set(i, time);
    this.ids.set(i, id);
  }

  private swap(a: number, b: number): void {
    const time = this.times.get(a);
    const id = this.ids.get(a);
    this.put(a, this.times.get(b), this.ids.get(b));
    this.put(b, time, id);
  }
}
