/**
 * Spreads a thread's work evenly over a time instead of doing it without a pause.
 *
 * The threads of the order path run for a fraction of a millisecond at a time. A thread that works for
 * ten milliseconds without a pause occupies a core; on a machine with few cores the others queue, and
 * neither a low priority nor the scheduler's balancing helps within so short a time.
 *
 * A flush request ends the pauses: the requester increments FLUSHES (signals[0]), then notifies. `next`
 * waits only while FLUSHES equals the last served request, so a request made before the wait begins is
 * not lost, and there are no pauses until `served` is called with it.
 */
export class Pacer {
  private readonly flushes: Int32Array;
  private lastServed = 0;
  private startedMs = 0;
  private msPerStep = 0;
  private step = 0;

  constructor(signals: SharedArrayBuffer) {
    this.flushes = new Int32Array(signals);
  }

  begin(steps: number, overMs: number): void {
    this.startedMs = performance.now();
    this.msPerStep = overMs / Math.max(1, steps);
    this.step = 0;
  }

  /** Ends a step: waits until the next one is due, unless it is late or a flush is requested. */
  next(): void {
    this.step += 1;
    const aheadMs = this.startedMs + this.step * this.msPerStep - performance.now();
    if (aheadMs > 0) Atomics.wait(this.flushes, 0, this.lastServed, aheadMs);
  }

  /** The work that this flush request asked for is done. */
  served(request: number): void {
    this.lastServed = request;
  }
}
