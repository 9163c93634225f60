/** Those who wait for a position of the log to be applied. */
import type { CommandObserver } from "./replica.js";

const WITHIN_MS = 1_000;

interface Waiter {
  readonly position: number;
  readonly resolve: (isReached: boolean) => void;
  readonly timer: NodeJS.Timeout;
}

export class Positions implements CommandObserver {
  private readonly waiters = new Set<Waiter>();

  constructor(private readonly applied: () => number) {}

  /** Resolves with whether the position is applied within a second. */
  reached(position: number): Promise<boolean> {
    if (position <= this.applied()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.waiters.delete(waiter);
        resolve(false);
      }, WITHIN_MS);
      const waiter = { position, resolve, timer };
      this.waiters.add(waiter);
    });
  }

  onCommand(): void {}

  onBatchEnd(): void {
    if (this.waiters.size === 0) return;
    const applied = this.applied();
    for (const waiter of this.waiters) {
      if (waiter.position > applied) continue;
      this.waiters.delete(waiter);
      clearTimeout(waiter.timer);
      waiter.resolve(true);
    }
  }
}
