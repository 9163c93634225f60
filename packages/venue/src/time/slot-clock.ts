/**
 * Proposes the log's time: a `Tick` per slot of 200 ms, or `AskTime` when the log is further behind than
 * a tick may span. Several gateways share one log: the first live writer proposes, and those behind it
 * step in after 300 ms of silence each; the one that did proposes each slot until one before it is
 * heard again. What is proposed is decided when a batch is published, so that
 * no tick waits in a queue; the engine ignores slots that have passed.
 *
 * No ticks exist for the time in which no gateway ran; the first to start asks for the time.
 */
import { type Command, MAX_LEAD_MS, TICK_MS } from "@perpgate/engine";
import { liveWriters, rankOf, type VenueState, writerOf } from "@perpgate/engine/reading";
import { MAX_FOLLOWED_MS } from "./start-time.js";
import type { VenueClock } from "./venue-clock.js";

/** How long the next writer in the order of joining waits for a tick of those before it. */
export const STEP_IN_MS = 300;
const ASK_EVERY_MS = 1_000;
/** Asks in a row without a batch of another writer, which sends one a second while it runs. */
const SILENT_ASKS = 2;
const NOTHING: readonly Command[] = [];

interface SlotClockParts {
  readonly clock: VenueClock;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
  readonly state: VenueState;
  /** The id of the own writer. */
  readonly writer: () => string;
  /**
   * Whether a gateway that is the only one to run may ask for a time however far ahead. If not, it waits
   * for a second one when the log is more than a minute behind: alone it has nobody to agree with.
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
  /** The log's last tick as it was seen here, and when. */
  private seenTickMs = 0;
  private seenAtMs = 0;
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
    const { clock, state, monotonic } = this.parts;
    const nowMs = clock.nowMs();
    const atMs = monotonic();
    if (state.lastTickMs !== this.seenTickMs) {
      this.seenTickMs = state.lastTickMs;
      this.seenAtMs = atMs;
    }
    if (nowMs - state.lastTickMs > MAX_LEAD_MS) return this.ask(nowMs, atMs);
    const slotMs = Math.floor(nowMs / TICK_MS) * TICK_MS;
    if (slotMs <= Math.max(state.lastTickMs, this.proposedMs)) return NOTHING;
    const rank = rankOf(state, this.parts.writer());
    const waitsMs = rank > 0 && !this.hasSteppedIn(rank) ? rank * STEP_IN_MS : 0;
    if (atMs - this.seenAtMs < waitsMs) return NOTHING;
    this.proposedMs = slotMs;
    return [{ kind: "Tick", slot: slotMs / TICK_MS }];
  }

  /**
   * Whether the last tick is of the slot that was proposed here, and no writer before this one was heard
   * between two ticks. Without it each slot would wait for the silence of a dead writer until enough
   * ticks have ended it.
   */
  private hasSteppedIn(rank: number): boolean {
    const { state } = this.parts;
    if (state.lastTickMs !== this.proposedMs) return false;
    const before = liveWriters(state).slice(0, rank);
    return before.every(({ ticksMissed }) => ticksMissed > 0);
  }

  private ask(nowMs: number, atMs: number): readonly Command[] {
    if (atMs - this.askedAtMs < ASK_EVERY_MS) return NOTHING;
    const { state, mayLeapAlone } = this.parts;
    const furthestMs = state.lastTickMs + MAX_FOLLOWED_MS;
    const isTooFar = nowMs > furthestMs && !mayLeapAlone() && this.isAlone();
    if (isTooFar && liveWriters(state).length === 1) return NOTHING;
    this.askedAtMs = atMs;
    return [{ kind: "AskTime", stampMs: isTooFar ? furthestMs : nowMs }];
  }

  /**
   * Whether no other writer sent a batch during the last asks. Writers that were killed are live in the
   * log until enough asks have ended them, and the last of these asks is then a majority of one.
   */
  private isAlone(): boolean {
    const { state } = this.parts;
    const own = writerOf(state, this.parts.writer());
    if (own === undefined) return true;
    return liveWriters(state).every(
      (writer) => writer === own || (writer.asksOfOthers.get(own.number) ?? 0) >= SILENT_ASKS,
    );
  }

  private schedule(): void {
    const delay = TICK_MS - (this.parts.clock.nowMs() % TICK_MS);
    this.timer = setTimeout(() => {
      this.parts.wake();
      if (this.isRunning) this.schedule();
    }, delay);
  }
}
