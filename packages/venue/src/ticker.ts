/**
 * Time as commands. Every 200 ms slot a `Tick`; after a pause longer than the engine lets a tick
 * bridge, a `Resume`. The venue's time runs on the monotonic clock and is led by the wall clock:
 *
 * - the wall clock goes back: the venue's time goes on at its own pace and never back;
 * - it jumps ahead, or the machine slept: one `Resume` carries the venue there, marked as one after
 *   a pause, since whoever is connected still is;
 * - it jumps ahead by more than a day: not believed before it has run on at its new pace for a
 *   minute, and said so. A wrong clock is put right sooner as a rule; a machine that slept for days
 *   looks the same, since its monotonic clock stood still.
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

/** A wall clock that is ahead by more than this may be wrong. */
const MAX_BELIEVED_JUMP_MS = 86_400_000;
/** How long it must then run on beside the monotonic clock to be believed. */
const DOUBT_MS = 60_000;
/** How far the two may drift apart meanwhile: more is another jump. */
const MAX_DRIFT_MS = 1_000;

/** A jump that is not believed yet. */
interface Doubt {
  readonly leadMs: number;
  /** Of the monotonic clock. */
  readonly sinceMs: number;
}

export class Ticker {
  private timer: NodeJS.Timeout | undefined;
  /** The venue's time at `anchor` of the monotonic clock. */
  private base: number;
  private anchor: number;
  private lastTickMs: number;
  private stopped = false;
  private doubt: Doubt | undefined;

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
    const monotonic = this.clocks.monotonic();
    const running = this.base + (monotonic - this.anchor);
    const wall = this.clocks.wall();
    if (!this.isBelieved(wall - running, monotonic)) return Math.floor(running);
    this.doubt = undefined;
    if (wall <= running) return Math.floor(running);
    this.base = wall;
    this.anchor = monotonic;
    return Math.floor(wall);
  }

  /** Whether to follow a wall clock that is so far ahead. */
  private isBelieved(leadMs: number, monotonic: number): boolean {
    if (leadMs <= MAX_BELIEVED_JUMP_MS) return true;
    const { doubt } = this;
    if (doubt === undefined) this.onDoubt(`the clock jumped ahead by ${Math.round(leadMs)} ms`);
    if (doubt === undefined || Math.abs(leadMs - doubt.leadMs) > MAX_DRIFT_MS) {
      this.doubt = { leadMs, sinceMs: monotonic };
      return false;
    }
    if (monotonic - doubt.sinceMs < DOUBT_MS) return false;
    this.onDoubt(`the clock has been ahead by ${Math.round(leadMs)} ms since; it is believed now`);
    return true;
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
