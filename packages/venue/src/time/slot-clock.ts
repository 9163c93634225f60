/**
 * Proposes the log's time: a `Tick` per slot of 200 ms, or `AskTime` when the log is further behind than
 * a tick may span. What is proposed is decided when a batch is published, so that no tick waits in a queue;
 * the engine ignores slots that have passed.
 *
 * No ticks exist for the time in which nobody wrote the log; who writes it next asks for the time.
 */
import { type Command, MAX_LEAD_MS, TICK_MS } from "@perpgate/engine";
import { liveWriters, type VenueState } from "@perpgate/engine/reading";
import { MAX_FOLLOWED_MS } from "./start-time.js";
import type { VenueClock } from "./venue-clock.js";

const ASK_EVERY_MS = 1_000;
const NOTHING: readonly Command[] = [];

interface SlotClockParts {
  readonly clock: VenueClock;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
  readonly state: VenueState;
  /**
   * Whether it may ask for a time however far ahead. If not, it waits for another core with the same clock
   * when the log is more than a minute behind: alone it has nobody to agree with.
   */
  readonly mayLeapAlone: () => boolean;
  /** Called at every slot: publishes what `due` returns then. */
  readonly wake: () => void;
}

export class SlotClock {
  private timer: NodeJS.Timeout | undefined;
  private isRunning = false;
  /** The last slot that was proposed here, in milliseconds. */
  private proposedMs = 0;
  private askedAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly parts: SlotClockParts) {}

  start(): void {
    this.isRunning = true;
    this.schedule();
  }

  stop(): void {
    this.isRunning = false;
    clearTimeout(this.timer);
  }

  /** What to publish now. */
  due(): readonly Command[] {
    const { clock, state } = this.parts;
    const nowMs = clock.nowMs();
    if (nowMs - state.lastTickMs > MAX_LEAD_MS) return this.ask(nowMs);
    const slotMs = Math.floor(nowMs / TICK_MS) * TICK_MS;
    if (slotMs <= Math.max(state.lastTickMs, this.proposedMs)) return NOTHING;
    this.proposedMs = slotMs;
    return [{ kind: "Tick", slot: slotMs / TICK_MS }];
  }

  private ask(nowMs: number): readonly Command[] {
    const { state, mayLeapAlone, monotonic } = this.parts;
    const atMs = monotonic();
    if (atMs - this.askedAtMs < ASK_EVERY_MS) return NOTHING;
    const furthestMs = state.lastTickMs + MAX_FOLLOWED_MS;
    const isTooFar = nowMs > furthestMs && !mayLeapAlone();
    // Others that were killed are live in a log of release 0.2 until enough asks have ended them.
    if (isTooFar && liveWriters(state).length === 1) return NOTHING;
    this.askedAtMs = atMs;
    return [{ kind: "AskTime", stampMs: isTooFar ? furthestMs : nowMs }];
  }

  private schedule(): void {
    const delay = TICK_MS - (this.parts.clock.nowMs() % TICK_MS);
    this.timer = setTimeout(() => {
      this.parts.wake();
      if (this.isRunning) this.schedule();
    }, delay);
  }
}
