/** The simulated time of a cluster: what is due runs in order of its time, then of its scheduling. */

interface Due {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** Turns of the microtask queue after an event: longer than any chain of promises in the venue. */
const TURNS = 6;

export class SimulatedTime {
  nowMs = 0;
  private scheduled = 0;
  /** A binary heap, the earliest first. */
  private readonly heap: Due[] = [];

  after(ms: number, run: () => void): void {
    const { heap } = this;
    const due = { atMs: this.nowMs + Math.max(0, ms), order: this.scheduled++, run };
    let at = heap.length;
    heap.push(due);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(due, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = due;
  }

  /** Runs until the time is reached, or until `isDone`, which is asked after every event. */
  async runFor(ms: number, isDone: () => boolean = () => false): Promise<void> {
    const untilMs = this.nowMs + ms;
    while (this.heap.length > 0 && this.heap[0]!.atMs <= untilMs) {
      const { atMs, run } = this.pop();
      this.nowMs = Math.max(this.nowMs, atMs);
      run();
      for (let turn = 0; turn < TURNS; turn++) await undefined;
      if (isDone()) return;
    }
    this.nowMs = untilMs;
  }

  private pop(): Due {
    const { heap } = this;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Due, b: Due): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
