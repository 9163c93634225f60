/**
 * The clock of a simulated machine, in milliseconds. It mostly advances in small steps; sometimes it
 * is set back, does not change, or jumps ahead.
 */

import type { Random } from "@perpgate/protocol/random";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export class SimulatedClock {
  private timeMs: number;

  constructor(
    private readonly random: Random,
    startMs: number,
  ) {
    this.timeMs = startMs;
  }

  get nowMs(): number {
    return this.timeMs;
  }

  /** One step, mostly forward. */
  step(): void {
    const random = this.random;
    if (random.chance(0.03)) this.timeMs -= 1 + random.below(random.pick([300, 5_000, HOUR_MS]));
    else if (random.chance(0.02))
      this.timeMs += random.below(random.pick([MINUTE_MS, 3 * HOUR_MS]));
    else this.timeMs += random.below(300);
  }
}
