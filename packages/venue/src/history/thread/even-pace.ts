/**
 * Spreads a thread's work evenly over some time instead of doing it in one go.
 *
 * The threads of the order path are awake for a fraction of a millisecond at a time. One that works
 * for ten milliseconds without a pause keeps a core of its own, on a machine with few of them the
 * others queue on what is left, and neither a low priority nor the system's balancing helps within
 * so short a time. In small pieces the same work goes where nobody else wants to run.
 *
 * Whoever waits for the result rings: the rest is then done without pauses.
 */
export class EvenPace {
  private readonly bell: Int32Array;
  /** Rings that were heeded. */
  private heeded = 0;
  private startedMs = 0;
  private msPerStep = 0;
  private step = 0;

  /** `rings`: one number, to which whoever is in a hurry adds one and notifies. */
  constructor(rings: SharedArrayBuffer) {
    this.bell = new Int32Array(rings);
  }

  begin(steps: number, overMs: number): void {
    this.startedMs = performance.now();
    this.msPerStep = overMs / Math.max(1, steps);
    this.step = 0;
  }

  /** A step is done: sleeps until the next is due, unless somebody hurries or it is late. */
  next(): void {
    this.step += 1;
    const aheadMs = this.startedMs + this.step * this.msPerStep - performance.now();
    if (aheadMs > 0) Atomics.wait(this.bell, 0, this.heeded, aheadMs);
  }

  /** What these rings were for is done. */
  heed(rings: number): void {
    this.heeded = rings;
  }
}
