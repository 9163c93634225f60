/**
 * Time as commands. Every 200 ms slot a `Tick`; after a pause longer than the engine lets a tick
 * bridge, a `Resume`, marked as one after a pause, since sockets that are connected stay connected.
 *
 * A crash here costs the ticks of the time the venue was down; the next start resumes.
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
