/** A process of the simulated cluster: it can be paused, as by SIGSTOP, and killed. */
import type { SimulatedTime } from "./virtual-time.js";

export class SimulatedProcess {
  isAlive = true;
  private pausedAltogetherMs = 0;
  private pausedUntilMs = 0;
  private readonly stopped: (() => void)[] = [];

  constructor(readonly time: SimulatedTime) {}

  /** How long it was paused, until now. */
  get pausedMs(): number {
    return this.pausedAltogetherMs - Math.max(0, this.pausedUntilMs - this.time.nowMs);
  }

  get isPaused(): boolean {
    return this.time.nowMs < this.pausedUntilMs;
  }

  pause(ms: number): void {
    const untilMs = this.time.nowMs + ms;
    if (untilMs <= this.pausedUntilMs) return;
    this.pausedAltogetherMs += untilMs - Math.max(this.time.nowMs, this.pausedUntilMs);
    this.pausedUntilMs = untilMs;
    this.time.after(ms, () => this.goOn());
  }

  resume(): void {
    this.pausedAltogetherMs -= Math.max(0, this.pausedUntilMs - this.time.nowMs);
    this.pausedUntilMs = 0;
    this.time.after(0, () => this.goOn());
  }

  /** As a timer of the process: late if it is paused, never if it is dead. */
  after(ms: number, run: () => void): void {
    this.time.after(ms, () => this.run(run));
  }

  every(ms: number, run: () => void): () => void {
    let isOver = false;
    const again = (): void => {
      this.after(ms, () => {
        if (isOver) return;
        run();
        again();
      });
    };
    again();
    return () => {
      isOver = true;
    };
  }

  /** What was due during the pause is due now. */
  private goOn(): void {
    if (this.isPaused) return;
    for (const run of this.stopped.splice(0)) this.after(0, run);
  }

  private run(run: () => void): void {
    if (!this.isAlive) return;
    if (this.isPaused) this.stopped.push(run);
    else run();
  }
}
