/** Exponential backoff with jitter: for endpoints, and for deposits whose vote failed. */

interface BackoffOptions {
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

  /** Returns the time of the next attempt. Half of the wait is random, so that attestors do not retry in step. */
  failed(nowMs: number): number {
    const waitMs = Math.min(this.options.maxMs, this.options.baseMs * 2 ** this.failures);
    this.failures++;
    this.notBeforeMs = nowMs + Math.round(waitMs / 2 + (waitMs / 2) * this.uniform());
    return this.notBeforeMs;
  }
}

const BASE_MS = 5_000;
const MAX_MS = 600_000;
/** The oldest entry is dropped beyond this, and its deposit retried early. */
const MAX_KEPT = 10_000;

/** Backoff per deposit, in memory only: a restart retries immediately. */
export class DepositBackoff {
  private readonly failing = new Map<number, Backoff>();

  constructor(
    /** Uniform in [0, 1). */
    private readonly uniform: () => number,
  ) {}

  isReady(depositId: number, nowMs: number): boolean {
    return this.failing.get(depositId)?.isReady(nowMs) ?? true;
  }

  /** Returns the time of the next attempt. */
  failed(depositId: number, nowMs: number): number {
    let backoff = this.failing.get(depositId);
    if (backoff === undefined) {
      this.makeRoom();
      backoff = new Backoff({ baseMs: BASE_MS, maxMs: MAX_MS }, this.uniform);
      this.failing.set(depositId, backoff);
    }
    return backoff.failed(nowMs);
  }

  succeeded(depositId: number): void {
    this.failing.delete(depositId);
  }

  private makeRoom(): void {
    if (this.failing.size < MAX_KEPT) return;
    for (const oldest of this.failing.keys()) {
      this.failing.delete(oldest);
      return;
    }
  }
}
