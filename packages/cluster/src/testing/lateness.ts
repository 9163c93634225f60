/**
 * How late the timers of this process run: what a busy machine adds to every time that a test measures.
 * A bound on such a time allows for it.
 */

const EVERY_MS = 10;
/** A step that is measured passes through several processes, each as late as this one. */
const PROCESSES = 8;

export class Lateness {
  private worstMs = 0;
  private lastMs = performance.now();
  private readonly timer: NodeJS.Timeout;

  constructor(whenDone: (stop: () => void) => void) {
    this.timer = setInterval(() => this.note(), EVERY_MS);
    whenDone(() => clearInterval(this.timer));
  }

  /** To be added to a bound on what was measured since the start. */
  get allowedMs(): number {
    this.note();
    return PROCESSES * this.worstMs;
  }

  private note(): void {
    const nowMs = performance.now();
    this.worstMs = Math.max(this.worstMs, nowMs - this.lastMs - EVERY_MS);
    this.lastMs = nowMs;
  }
}
