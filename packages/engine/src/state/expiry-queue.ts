/**
 * Ids that are due at a time, least (time, id) first: a binary heap without early removal. The owner
 * of an entry checks, when it is popped, whether it still applies.
 */
export class ExpiryQueue {
  private times: number[] = [];
  private ids: number[] = [];

  push(time: number, id: number): void {
    let i = this.times.length;
    this.times.push(time);
    this.ids.push(id);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!this.less(i, parent)) break;
      this.swap(i, parent);
      i = parent;
    }
  }

  /** The time of the first entry, or infinity. */
  nextTime(): number {
    return this.times[0] ?? Number.POSITIVE_INFINITY;
  }

  pop(): number {
    const id = this.ids[0]!;
    const lastTime = this.times.pop()!;
    const lastId = this.ids.pop()!;
    if (this.times.length > 0) {
      this.times[0] = lastTime;
      this.ids[0] = lastId;
      this.sink();
    }
    return id;
  }

  clear(): void {
    this.times = [];
    this.ids = [];
  }

  private sink(): void {
    let i = 0;
    for (;;) {
      const left = 2 * i + 1;
      const right = left + 1;
      let least = i;
      if (left < this.times.length && this.less(left, least)) least = left;
      if (right < this.times.length && this.less(right, least)) least = right;
      if (least === i) return;
      this.swap(i, least);
      i = least;
    }
  }

  private less(a: number, b: number): boolean {
    const difference = this.times[a]! - this.times[b]!;
    return difference !== 0 ? difference < 0 : this.ids[a]! < this.ids[b]!;
  }

  private swap(a: number, b: number): void {
    const time = this.times[a]!;
    const id = this.ids[a]!;
    this.times[a] = this.times[b]!;
    this.ids[a] = this.ids[b]!;
    this.times[b] = time;
    this.ids[b] = id;
  }
}
