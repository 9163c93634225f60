/**
 * Sends what is new on the public streams in rounds: at most one per 10 ms, and at most an eighth of the
 * thread's time. What changes in between is conflated.
 */

export interface Source {
  /** Sends what is new, between two commands. Returns whether an edge without room still waits for it. */
  send(): boolean;
}

const MIN_INTERVAL_MS = 10;
const INTERVAL_PER_SPENT = 8;

export class Rounds {
  private readonly dirty = new Set<Source>();
  private timer: NodeJS.Timeout | undefined;
  private turn: NodeJS.Immediate | undefined;
  private startedAt = Number.NEGATIVE_INFINITY;
  private spentMs = 0;
  private isStopped = false;

  constructor(private readonly onFault: (error: unknown) => void) {}

  /** Includes the source in the next round, after those that are in it. */
  markDirty(source: Source): void {
    this.dirty.add(source);
    this.schedule();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    clearImmediate(this.turn);
  }

  private schedule(): void {
    const isDue = this.timer !== undefined || this.turn !== undefined;
    if (isDue || this.isStopped || this.dirty.size === 0) return;
    const interval = Math.max(MIN_INTERVAL_MS, INTERVAL_PER_SPENT * this.spentMs);
    const delay = Math.ceil(this.startedAt + interval - performance.now());
    if (delay > 0) this.timer = setTimeout(() => this.run(), delay);
    // Not within the command's own turn, whose acknowledgement would wait for it.
    else this.turn = setImmediate(() => this.run());
  }

  private run(): void {
    this.timer = undefined;
    this.turn = undefined;
    this.startedAt = performance.now();
    const sources = [...this.dirty];
    this.dirty.clear();
    for (const source of sources) {
      // A source that fails loses what it had to send; the others do not.
      try {
        if (source.send()) this.dirty.add(source);
      } catch (error) {
        this.onFault(error);
      }
    }
    this.spentMs = performance.now() - this.startedAt;
    this.schedule();
  }
}
