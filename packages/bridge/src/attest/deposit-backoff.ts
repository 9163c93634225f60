/**
 * Deposits whose vote could not be made or was not taken: each is tried again after a pause of its
 * own, twice as long after every failure, and keeps no other deposit waiting. Kept in memory only: a
 * restart tries at once.
 */

import { Backoff } from "../chain/backoff.js";

const BASE_MS = 5_000;
const MAX_MS = 600_000;
/** The oldest is forgotten beyond this, and so tried again early. */
const MAX_KEPT = 10_000;

export class DepositBackoff {
  private readonly failing = new Map<number, Backoff>();

  constructor(
    /** Uniform in [0, 1). */
    private readonly uniform: () => number,
  ) {}

  isReady(depositId: number, nowMs: number): boolean {
    return this.failing.get(depositId)?.isReady(nowMs) ?? true;
  }

  /** Returns when it may be tried again. */
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
