/**
 * How many times its price a client address pays for work while the event loop is busy.
 *
 * The table of costs is measured on a quiet machine. On one that computes several times more slowly, the
 * tenth of a core that an address may use becomes most of one; and no address is over its budget while
 * many together are too much. In both cases the event loop has little idle time left. Then charges to
 * addresses are multiplied until there is idle time again.
 *
 * Two at most: a market maker at its limits uses 45 % of its budget, and must never wait because of
 * others. With eight, a trader who had once used up its burst stayed in debt at a quarter of its limits.
 */
import { performance } from "node:perf_hooks";

export const LOAD_SAMPLE_MS = 50;
const MAX_FACTOR = 2;
const BUSY = 0.7;
const RELAXED = 0.5;
const RISE = 1.2;
const FALL = 0.9;

export class LoadFactor {
  private factor = 1;
  private timer: NodeJS.Timeout | undefined;
  private last = performance.eventLoopUtilization();

  get value(): number {
    return this.factor;
  }

  /** Samples the event loop until `stop`. */
  start(): void {
    this.last = performance.eventLoopUtilization();
    this.timer ??= setInterval(() => {
      const now = performance.eventLoopUtilization();
      this.sample(performance.eventLoopUtilization(now, this.last).utilization);
      this.last = now;
    }, LOAD_SAMPLE_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.factor = 1;
  }

  /** `utilization`: the part of the last interval in which the event loop was not idle. */
  sample(utilization: number): void {
    if (utilization > BUSY) this.factor = Math.min(MAX_FACTOR, this.factor * RISE);
    else if (utilization < RELAXED) this.factor = Math.max(1, this.factor * FALL);
  }
}
