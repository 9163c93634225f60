/** Time that goes with the machine's clock: as many ticks as have passed, times a speed. */

import { TICK_MS } from "@perpgate/venue";

/** How often it looks at the clock. */
const LOOK_EVERY_MS = 20;
/** A process that was paused goes on from where it is, instead of catching up for minutes. */
const MAX_CATCH_UP_MS = 60_000;
const MAX_SPEED = 10_000;

export class FollowedClock {
  private readonly timer: NodeJS.Timeout;
  private seenMs = performance.now();
  private dueMs = 0;
  private isBusy = false;

  constructor(
    readonly speed: number,
    private readonly step: (ticks: number) => Promise<void>,
  ) {
    if (!(speed > 0 && speed <= MAX_SPEED)) {
      throw new RangeError(`speed is a number above 0 and up to ${MAX_SPEED}, not ${speed}`);
    }
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    const nowMs = performance.now();
    const passedMs = (nowMs - this.seenMs) * this.speed;
    this.dueMs = Math.min(this.dueMs + passedMs, MAX_CATCH_UP_MS * this.speed);
    this.seenMs = nowMs;
    const ticks = Math.floor(this.dueMs / TICK_MS);
    if (ticks === 0 || this.isBusy) return;
    this.isBusy = true;
    this.dueMs -= ticks * TICK_MS;
    void this.step(ticks).finally(() => {
      this.isBusy = false;
    });
  }
}
