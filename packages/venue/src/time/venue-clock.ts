/**
 * The venue's time on this machine. It runs on the monotonic clock and follows the wall clock:
 *
 * - the wall clock is behind: not followed, the venue's time runs on the monotonic clock alone;
 * - it is ahead by up to a minute: followed immediately;
 * - it is further ahead, and the boot clock shows that the machine slept for as long: followed;
 * - it is further ahead for no known reason: doubted. The venue's time runs on the monotonic clock
 *   until the wall clock is corrected, or until a start accepts it (start-time.ts).
 *
 * Each jump of more than two seconds is counted, and reported once.
 *
 * A log that other gateways write too has the time of the majority, not of this machine. There what the
 * log does not have of the own time goes back with the wall clock, except for the time of a stall of the
 * log, and the own time follows the log if that is ahead.
 */
import { MAX_LEAD_MS } from "@perpgate/engine";
import type { BootClock, BootTime } from "./boot-clock.js";
import { MAX_FOLLOWED_MS } from "./start-time.js";

interface Clocks {
  /** Unix milliseconds. */
  readonly wall: () => number;
  /** Milliseconds from any origin, never back. */
  readonly monotonic: () => number;
  readonly boot: BootClock;
  /** Of a log that other gateways write too: its last tick. */
  readonly logMs?: () => number;
}

/** A larger difference from the wall clock is reported, and makes the venue unready. */
export const MAX_LAG_MS = 2_000;
/** A doubted clock that moves by more than this against the monotonic one has jumped again. */
const MAX_DRIFT_MS = 1_000;

export type JumpKind =
  /** Ahead, and followed. */
  | "followed"
  /** Ahead, and doubted. */
  | "doubted"
  /** Back, behind the venue's time. */
  | "back";

export interface ClockJump {
  readonly kind: JumpKind;
  /** How far the wall clock was ahead of the venue's time; negative: behind. */
  readonly leadMs: number;
}

export class VenueClock {
  /** Since the start. */
  readonly jumps: Record<JumpKind, number> = { followed: 0, doubted: 0, back: 0 };
  /** The venue's time at `anchor` of the monotonic clock. */
  private base: number;
  private anchor: number;
  /** Both clocks at the start. During sleep only the boot clock advances; the difference is the sleep. */
  private readonly bootAtStart: BootTime | undefined;
  private readonly monotonicAtStart: number;
  private sleptMs = 0;
  /** How far a doubted wall clock is ahead. */
  private doubtMs: number | undefined;
  private isBack = false;
  private steady = 0;
  /** The log's last tick as it was seen here, and the monotonic time then. */
  private seenTickMs = 0;
  private seenAt = 0;

  constructor(
    private readonly clocks: Clocks,
    startMs: number,
    private readonly onJump: (jump: ClockJump) => void = () => undefined,
  ) {
    this.base = startMs;
    this.anchor = clocks.monotonic();
    this.monotonicAtStart = this.anchor;
    this.bootAtStart = clocks.boot();
  }

  /** The venue's time, whole milliseconds. Never back, unless other gateways write the log too. */
  nowMs(): number {
    const monotonic = this.clocks.monotonic();
    const running = this.runningMs(monotonic);
    const wall = this.clocks.wall();
    const lead = wall - running;
    if (lead > MAX_FOLLOWED_MS) return this.farAhead(lead, running, monotonic);
    this.doubtMs = undefined;
    if (lead <= 0) {
      this.noteBehind(lead);
      return Math.floor(this.backMs(running, wall, monotonic));
    }
    this.isBack = false;
    if (lead > MAX_LAG_MS) {
      // What this follows of a sleep must not excuse a later jump.
      const slept = this.newlySlept(monotonic);
      this.sleptMs -= Math.max(0, slept - lead);
      this.report("followed", lead);
    }
    this.moveTo(wall, monotonic);
    return Math.floor(wall);
  }

  /**
   * As `nowMs`, and never back: no further ahead of the log than it takes a stamp. For what is compared
   * with earlier times.
   */
  steadyMs(): number {
    const nowMs = this.nowMs();
    const logMs = this.clocks.logMs?.();
    if (logMs === undefined) return nowMs;
    this.steady = Math.max(this.steady, logMs, Math.min(nowMs, logMs + MAX_LEAD_MS));
    return this.steady;
  }

  /** The wall clock, right or wrong. */
  wallMs(): number {
    return this.clocks.wall();
  }

  /** How far the wall clock is ahead of the venue's time; negative: behind. */
  get leadMs(): number {
    const nowMs = this.nowMs();
    return this.clocks.wall() - nowMs;
  }

  private runningMs(monotonic: number): number {
    const running = this.base + (monotonic - this.anchor);
    const logMs = this.clocks.logMs?.() ?? running;
    this.see(logMs, monotonic);
    if (logMs - running <= MAX_LAG_MS) return running;
    // The majority is ahead.
    this.moveTo(logMs, monotonic);
    return logMs;
  }

  /** The time under a wall clock that is behind it: what neither that nor a log without stalls has goes back. */
  private backMs(running: number, wall: number, monotonic: number): number {
    if (this.clocks.logMs === undefined) return running;
    const leastMs = this.leastMs(monotonic);
    // The wall clock has whole milliseconds.
    if (running - wall < 1 || running <= leastMs + MAX_LEAD_MS) return running;
    this.moveTo(Math.max(wall, leastMs), monotonic);
    return this.base;
  }

  private see(tickMs: number, monotonic: number): void {
    if (tickMs === this.seenTickMs) return;
    // Written before a stall of the log, and delivered after it.
    if (tickMs < this.leastMs(monotonic) - MAX_LEAD_MS) return;
    this.seenTickMs = tickMs;
    this.seenAt = monotonic;
  }

  /** What the log's time is if it does not stall: its last tick, and what has passed since. */
  private leastMs(monotonic: number): number {
    return this.seenTickMs + (monotonic - this.seenAt);
  }

  private farAhead(lead: number, running: number, monotonic: number): number {
    if (this.doubtMs !== undefined && Math.abs(lead - this.doubtMs) <= MAX_DRIFT_MS) {
      this.doubtMs = lead;
      return Math.floor(running);
    }
    const slept = this.newlySlept(monotonic);
    if (lead - slept <= MAX_FOLLOWED_MS) {
      this.doubtMs = undefined;
      this.isBack = false;
      this.report("followed", lead);
      this.moveTo(running + lead, monotonic);
      return Math.floor(this.base);
    }
    // The time asleep has passed in any case.
    this.moveTo(running + slept, monotonic);
    this.doubtMs = lead - slept;
    this.report("doubted", this.doubtMs);
    return Math.floor(this.base);
  }

  /** Sleep since the previous call. */
  private newlySlept(monotonic: number): number {
    const now = this.clocks.boot();
    if (now === undefined || now.boot !== this.bootAtStart?.boot) return 0;
    const awake = monotonic - this.monotonicAtStart;
    const slept = now.elapsedMs - this.bootAtStart.elapsedMs - awake;
    const added = Math.max(0, slept - this.sleptMs);
    this.sleptMs += added;
    return added;
  }

  private noteBehind(lead: number): void {
    const isBack = lead < -MAX_LAG_MS;
    if (isBack && !this.isBack) this.report("back", lead);
    this.isBack = isBack;
  }

  private moveTo(timeMs: number, monotonic: number): void {
    this.base = timeMs;
    this.anchor = monotonic;
  }

  private report(kind: JumpKind, leadMs: number): void {
    this.jumps[kind]++;
    this.onJump({ kind, leadMs: Math.round(leadMs) });
  }
}
