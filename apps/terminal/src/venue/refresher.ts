/**
 * Asks a question again after every change, and until it is answered.
 *
 * Changes come in by `soon`, as fast as the streams bring them; the question goes out at most once
 * per `afterMs`, and never twice at a time, so that an older answer cannot replace a newer one. A
 * question that failed is asked again by itself, each time after a longer wait: nothing else might
 * ever bring the next change. `close` ends it for good.
 */

const AFTER_MS = 200;
const LONGEST_WAIT_MS = 10_000;

export interface RefresherOptions {
  /** How long changes are gathered, and the first wait after a failure. */
  readonly afterMs?: number;
  /** The longest wait between two questions that failed. */
  readonly longestWaitMs?: number;
}

export class Refresher {
  private readonly afterMs: number;
  private readonly longestWaitMs: number;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private dueAt = 0;
  private isAsking = false;
  /** Whether something changed after the question was sent. */
  private isOutdated = false;
  private isClosed = false;
  /** In a row. */
  private failures = 0;

  /** `ask` resolves when there is an answer, and rejects to be asked again. */
  constructor(
    private readonly ask: () => Promise<void>,
    { afterMs = AFTER_MS, longestWaitMs = LONGEST_WAIT_MS }: RefresherOptions = {},
  ) {
    this.afterMs = afterMs;
    this.longestWaitMs = longestWaitMs;
  }

  /** Something changed, or the line is back: asks soon, also where a longer wait had begun. */
  soon(): void {
    if (this.isAsking) this.isOutdated = true;
    else this.askWithin(this.afterMs);
  }

  async now(): Promise<void> {
    if (this.isAsking || this.isClosed) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.isAsking = true;
    this.isOutdated = false;
    const isAnswered = await this.ask().then(
      () => true,
      () => false,
    );
    this.isAsking = false;
    this.failures = isAnswered ? 0 : this.failures + 1;
    if (!isAnswered) this.askWithin(this.waitMs());
    else if (this.isOutdated) this.askWithin(this.afterMs);
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  /** A wait that ends earlier stays: changes in quick succession do not put the question off. */
  private askWithin(waitMs: number): void {
    const dueAt = performance.now() + waitMs;
    if (this.isClosed || (this.timer !== undefined && this.dueAt <= dueAt)) return;
    clearTimeout(this.timer);
    this.dueAt = dueAt;
    this.timer = setTimeout(() => void this.now(), waitMs);
  }

  /** Doubles with each failure; the upper half is chance, so that pages do not come in step. */
  private waitMs(): number {
    const full = Math.min(this.longestWaitMs, this.afterMs * 2 ** Math.min(this.failures, 20));
    return full / 2 + (full / 2) * Math.random();
  }
}
