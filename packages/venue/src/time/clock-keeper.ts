/**
 * Writes the venue's time down next to the boot clock, at start, every minute and at the end, for
 * the next start to tell a long stop from a wrong clock.
 */
import type { BootClock } from "./boot-clock.js";
import { writeClockRecord } from "./boot-clock.js";
import type { VenueClock } from "./venue-clock.js";

const EVERY_MS = 60_000;

export class ClockKeeper {
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly path: string,
    private readonly clock: VenueClock,
    private readonly boot: BootClock,
    private readonly onFailure: (error: unknown) => void,
  ) {
    this.write();
    this.timer = setInterval(() => this.write(), EVERY_MS);
    this.timer.unref();
  }

  close(): void {
    clearInterval(this.timer);
    this.write();
  }

  private write(): void {
    const now = this.boot();
    if (now === undefined) return;
    try {
      writeClockRecord(this.path, { ...now, timeMs: this.clock.nowMs() });
    } catch (error) {
      this.onFailure(error);
    }
  }
}
