/**
 * When a failed endpoint may be asked again: twice as long after each failure in a row, up to a
 * limit, with half of it left to chance so that attestors do not return in step.
 */

export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
}

export class Backoff {
  private failures = 0;
  private notBeforeMs = 0;

  constructor(
    private readonly options: BackoffOptions,
    /** Uniform in [0, 1). */
    private readonly uniform: () => number,
  ) {}

  isReady(nowMs: number): boolean {
    return nowMs >= this.notBeforeMs;
  }

  succeeded(): void {
    this.failures = 0;
    this.notBeforeMs = 0;
  }

  /** Answers when the next attempt may be made. */
  failed(nowMs: number): number {
    const waitMs = Math.min(this.options.maxMs, this.options.baseMs * 2 ** this.failures);
    this.failures++;
    this.notBeforeMs = nowMs + Math.round(waitMs / 2 + (waitMs / 2) * this.uniform());
    return this.notBeforeMs;
  }
}
