/**
 * Time as commands. Every 200 ms slot a `Tick`; after a pause longer than the engine lets a tick
 * bridge, a `Resume`. The venue's time runs on the monotonic clock and is led by the wall clock:
 *
 * - the wall clock goes back: the venue's time goes on at its own pace and never back;
 * - it jumps ahead, or the machine slept: one `Resume` carries the venue there, marked as one after
 *   a pause, since whoever is connected still is;
 * - it jumps ahead by more than a day while the machine was awake: not believed, and said so.
 *
 * A crash here costs the ticks of the time the venue was down; the next start resumes.
 */
import { type Command, MAX_LEAD_MS, TICK_MS } from "@perpgate/engine";

export interface TickerClocks {
  /** Unix milliseconds. */
  readonly wall: () => number;
  /** Milliseconds from any origin, never back. */
  readonly monotonic: () => number;
}

/** A wall clock that runs ahead by more than this within one wait is wrong. */
const MAX_BELIEVED_JUMP_MS = 86_400_000;

export class Ticker {
  private timer: NodeJS.Timeout | undefined;
  /** The venue's time at `anchor` of the monotonic clock. */
  private base: number;
  private anchor: number;
  private lastTickMs: number;
  private stopped = false;
  private warned = false;

  constructor(
    private readonly clocks: TickerClocks,
    /** The venue's time when the ticker starts. */
    startMs: number,
    lastTickMs: number,
    private readonly submit: (command: Command) => void,
    private readonly onDoubt: (message: string) => void,
  ) {
    this.base = Math.max(startMs, clocks.wall());
    this.anchor = clocks.monotonic();
    this.lastTickMs = lastTickMs;
  }

  /** The venue's time as this machine sees it, whole milliseconds. */
  nowMs(): number {
    const running = this.base + (this.clocks.monotonic() - this.anchor);
    const wall = this.clocks.wall();
    if (wall <= running) return Math.floor(running);
    if (wall - running > MAX_BELIEVED_JUMP_MS) {
      if (!this.warned) this.onDoubt(`the clock jumped ahead by ${Math.round(wall - running)} ms`);
      this.warned = true;
      return Math.floor(running);
    }
    this.warned = false;
    this.base = wall;
    this.anchor = this.clocks.monotonic();
    return Math.floor(wall);
  }

  start(): void {
    this.schedule();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /** Submits what is due. */
  tick(): void {
    const now = this.nowMs();
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
    const delay = TICK_MS - (this.nowMs() % TICK_MS);
    this.timer = setTimeout(() => {
      this.tick();
      this.schedule();
    }, delay);
  }
}

function slotTime(timeMs: number): number {
  return Math.floor(timeMs / TICK_MS) * TICK_MS;
}
