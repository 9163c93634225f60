/** Time that goes with the machine's clock: as many ticks as have passed, times a speed. */

import { TICK_MS } from "@perpgate/venue";

/** How often it looks at the clock. */
const LOOK_EVERY_MS = 20;
/** Of the machine's clock: a step is no longer, so that calls of others and a pause come in between. */
const MAX_STEP_MS = 20;
/** Of the venue's time. What could not be kept beyond it is dropped, instead of made up for at a higher speed. */
const MAX_BEHIND_MS = 60_000;
/** Of the machine's clock, for the speed that was measured. */
const MEASURED_MS = 1_000;
export const MAX_SPEED = 10_000;

/** Lets up to this many ticks pass while `goesOn`; resolves with how many did. */
type Step = (ticks: number, goesOn: () => boolean) => Promise<number>;

interface Mark {
  readonly atMs: number;
  /** Of the venue, since the clock began. */
  readonly passedMs: number;
}

export class FollowedClock {
  private readonly timer: NodeJS.Timeout;
  private seenMs = performance.now();
  private dueMs = 0;
  private passedMs = 0;
  private isBusy = false;
  private isStopped = false;
  /** Where the last two measurements began. */
  private marks: readonly [Mark, Mark];

  constructor(
    readonly speed: number,
    private readonly step: Step,
    /** It has stopped then. */
    private readonly onFailed: (error: unknown) => void,
  ) {
    if (!(speed > 0 && speed <= MAX_SPEED)) {
      throw new RangeError(`speed is a number above 0 and up to ${MAX_SPEED}, not ${speed}`);
    }
    const start = { atMs: this.seenMs, passedMs: 0 };
    this.marks = [start, start];
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
  }

  /** How fast it was within the last second or two, times the machine's clock. */
  get measuredSpeed(): number {
    const [{ atMs, passedMs }] = this.marks;
    const elapsedMs = performance.now() - atMs;
    return elapsedMs > 0 ? (this.passedMs - passedMs) / elapsedMs : 0;
  }

  /** No tick passes after the one that passes now. */
  stop(): void {
    this.isStopped = true;
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      for (let ticks = this.due(); ticks > 0; ticks = this.due()) {
        const untilMs = performance.now() + MAX_STEP_MS;
        const goesOn = () => !this.isStopped && performance.now() < untilMs;
        const doneMs = (await this.step(ticks, goesOn)) * TICK_MS;
        this.dueMs -= doneMs;
        this.passedMs += doneMs;
      }
    } catch (error) {
      this.stop();
      this.onFailed(error);
    } finally {
      this.isBusy = false;
    }
  }

  /** Ticks that should have passed by now and have not. */
  private due(): number {
    if (this.isStopped) return 0;
    const nowMs = performance.now();
    const most = Math.max(MAX_BEHIND_MS, 2 * LOOK_EVERY_MS * this.speed);
    this.dueMs = Math.min(this.dueMs + (nowMs - this.seenMs) * this.speed, most);
    this.seenMs = nowMs;
    const [, last] = this.marks;
    if (nowMs - last.atMs >= MEASURED_MS) {
      this.marks = [last, { atMs: nowMs, passedMs: this.passedMs }];
    }
    return Math.floor(this.dueMs / TICK_MS);
  }
}
