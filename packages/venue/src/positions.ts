/** Those who wait for a position of the log to be applied. */
import type { CommandObserver } from "./replica.js";

const WITHIN_MS = 1_000;
/** A core that leads publishes a tick every 200 ms, which then has to come back. */
const OWN_BATCH_WITHIN_MS = 2_000;

/** How far the log is applied, and the own batches in it: the sequencer. */
interface LogCounts {
  readonly seq: number;
  readonly published: number;
  readonly returned: number;
}

interface Waiter {
  readonly position: number;
  /** An own batch with a higher number, published after the call, ends the wait. */
  readonly published: number;
  readonly resolve: (isReached: boolean) => void;
  readonly timer: NodeJS.Timeout;
}

export class AppliedWaits implements CommandObserver {
  private readonly waiters = new Set<Waiter>();

  constructor(private readonly log: LogCounts) {}

  /** Resolves with whether the position is applied within a second. */
  reached(position: number): Promise<boolean> {
    return this.wait(position, Number.POSITIVE_INFINITY, WITHIN_MS);
  }

  /**
   * Resolves with whether, within two seconds, the position is applied, or an own batch has come back
   * that was published after the call: what any core had answered before the call is in the log before
   * that batch. A core that was stopped while another one took over gets none back.
   */
  reachedIfAnswered(position: number): Promise<boolean> {
    return this.wait(position, this.log.published, OWN_BATCH_WITHIN_MS);
  }

  onCommand(): void {}

  onBatchEnd(): void {
    if (this.waiters.size === 0) return;
    const { seq, returned } = this.log;
    for (const waiter of this.waiters) {
      if (waiter.position > seq && waiter.published >= returned) continue;
      this.waiters.delete(waiter);
      clearTimeout(waiter.timer);
      waiter.resolve(true);
    }
  }

  private wait(position: number, published: number, withinMs: number): Promise<boolean> {
    if (position <= this.log.seq) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.waiters.delete(waiter);
        resolve(false);
      }, withinMs);
      const waiter = { position, published, resolve, timer };
      this.waiters.add(waiter);
    });
  }
}
