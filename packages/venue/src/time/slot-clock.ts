/**
 * Submits time as commands: a `Tick` per 200 ms slot; after a pause longer than a tick may span, a
 * `Resume` with `afterPause`, because connected sockets have stayed connected.
 *
 * No ticks exist for the time after a crash; the next start submits a Resume.
 */
import { type Command, MAX_LEAD_MS, TICK_MS } from "@perpgate/engine";
import type { VenueClock } from "./venue-clock.js";

export class SlotClock {
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(
    private readonly clock: VenueClock,
    private lastTickMs: number,
    private readonly submit: (command: Command) => void,
  ) {}

  start(): void {
    this.schedule();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /** Submits what is due. */
  tick(): void {
    const now = this.clock.nowMs();
    if (now - this.lastTickMs > MAX_LEAD_MS) {
      this.submit({ kind: "Resume", stampMs: now, afterPause: true });
      this.lastTickMs = slotTime(now);
      return;
    }
    const time = slotTime(now);
    if (time <= this.lastTickMs) return;
    this.lastTickMs = time;
    this.submit({ kind: "Tick", slot: time / TICK_MS });
  }

  private schedule(): void {
    if (this.stopped) return;
    const delay = TICK_MS - (this.clock.nowMs() % TICK_MS);
    this.timer = setTimeout(() => {
      this.tick();
      this.schedule();
    }, delay);
  }
}

function slotTime(timeMs: number): number {
  return Math.floor(timeMs / TICK_MS) * TICK_MS;
}
