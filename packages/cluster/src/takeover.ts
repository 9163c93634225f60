/**
 * When a standby claims to lead, and when a leader must not go on: rules of time and of what is known of
 * other cores. None of them is needed for the fence; a wrong guess costs an epoch, not an order.
 *
 * Silence counts only while the stream's leader answers without a break, so nobody claims while JetStream
 * elects, and while this core is cut off or its process was stopped. All times are monotonic.
 */

import type { Heartbeat } from "./heartbeat.js";
import { TURN_MESSAGES } from "./turns.js";

/** A claim after this silence, and this much later for each core before it in the configuration. */
export const SILENCE_MS = 1_500;
export const RANK_MS = 500;
/** Between two answers of the stream's leader that follow each other without a break, at most. */
export const BREAK_MS = 750;
/** A core that was heard within this time counts for the median of the clocks. */
const HEARD_MS = 5_000;
const MAX_CLOCK_MS = 2_000;
/** For as long a core that was named by the leader may claim without waiting for silence. */
const HANDOVER_MS = 1_000;
/** A core that was not heard for as long may have ended: the lead is not handed to it. */
const FRESH_MS = 1_000;
/** A core that has more to read than one turn of its event loop delivers would not claim in time. */
const MAX_BEHIND = TURN_MESSAGES;
/** Of a plain subject anybody may fill: more cores than a venue ever has. */
const MAX_CORES = 64;

/** What this core has applied. */
export interface AppliedChain {
  readonly last: number;
  /** The chain at a sequence; undefined if it is not kept, or not reached. */
  at(sequence: number): Uint8Array | undefined;
}

/** What another core has named to this run: a sequence, and the chain up to it. */
type Named = Pick<Heartbeat, "core" | "run" | "sequence" | "chain">;

interface Other {
  readonly heartbeat: Heartbeat;
  readonly atMs: number;
  /** How far its clock is ahead of this core's. */
  readonly aheadMs: number;
  /** The sequence up to which it has another log; 0: none is known. */
  otherUpTo: number;
}

export type Obstacle =
  /** Messages arrive, or the silence is still too short. */
  | "not_silent"
  /** The stream's leader does not answer. */
  | "no_stream_leader"
  /** The stream's leader names another last message than this core has applied. */
  | "behind"
  /** Another core has applied more than the stream has. */
  | "higher_known"
  /** Another core has another message at a sequence that this core has applied. */
  | "other_chain"
  /** The clock is wrong. */
  | "clock";

export class Takeover {
  private highest: Named | undefined;
  /** The last message of the stream, as its leader has named it. */
  private streamLast = 0;
  private messageAtMs: number;
  private answersSinceMs: number | undefined;
  private answeredAtMs = Number.NEGATIVE_INFINITY;
  /** Whether the newest answer named the message that was applied last. */
  private isAtEnd = false;
  private handedAtMs = Number.NEGATIVE_INFINITY;
  private readonly others = new Map<string, Other>();

  constructor(
    private readonly core: string,
    /** The place in the order of the configuration, from 0. */
    private readonly rank: number,
    private readonly applied: AppliedChain,
    private readonly nowMs: () => number,
    private readonly clockMs: () => number,
  ) {
    this.messageAtMs = nowMs();
  }

  /** A message was applied. */
  delivered(): void {
    this.messageAtMs = this.nowMs();
    this.isAtEnd = false;
    this.handedAtMs = Number.NEGATIVE_INFINITY;
    this.reach();
  }

  /** The stream's leader has named its last message: `isApplied` if this core applied just that last. */
  answered(isApplied: boolean, last: number): void {
    const nowMs = this.nowMs();
    this.streamLast = last;
    if (nowMs - this.answeredAtMs > BREAK_MS) this.answersSinceMs = nowMs;
    this.answersSinceMs ??= nowMs;
    this.answeredAtMs = nowMs;
    this.isAtEnd = isApplied;
  }

  /** The stream's leader did not answer, or somebody else did. */
  unanswered(): void {
    this.answersSinceMs = undefined;
    this.isAtEnd = false;
  }

  heard(heartbeat: Heartbeat): void {
    const { core, run, sequence } = heartbeat;
    if (core === this.core) return;
    const nowMs = this.nowMs();
    const aheadMs = heartbeat.clockMs - this.clockMs();
    this.forget(nowMs);
    const before = this.others.get(core);
    if (this.others.size < MAX_CORES || before !== undefined) {
      const otherUpTo = before?.heartbeat.run === run ? before.otherUpTo : 0;
      this.others.set(core, { heartbeat, atMs: nowMs, aheadMs, otherUpTo });
    }
    if (heartbeat.handsTo === this.core) this.handedAtMs = nowMs;
    if (sequence <= this.applied.last) {
      this.compare(heartbeat);
    } else if (this.highest === undefined || sequence > this.highest.sequence) {
      this.highest = heartbeat;
    }
  }

  /** Which core that is heard has another log; empty if none has. */
  get otherChain(): string {
    for (const { heartbeat, otherUpTo } of this.heardNow()) {
      if (otherUpTo === 0) continue;
      return `${heartbeat.core} has another log up to sequence ${otherUpTo} than this core`;
    }
    return "";
  }

  /** Whether to claim now. */
  get isDue(): boolean {
    return this.obstacle === undefined;
  }

  /** What stands against a claim now. */
  get obstacle(): Obstacle | undefined {
    const nowMs = this.nowMs();
    const { answersSinceMs } = this;
    if (this.otherChain !== "") return "other_chain";
    if (this.highest !== undefined) return "higher_known";
    if (this.isClockWrong) return "clock";
    if (answersSinceMs === undefined || nowMs - this.answeredAtMs > BREAK_MS) {
      return "no_stream_leader";
    }
    if (!this.isAtEnd) return "behind";
    if (nowMs - this.handedAtMs <= HANDOVER_MS) return undefined;
    const silentMs = nowMs - Math.max(this.messageAtMs, answersSinceMs);
    return silentMs < SILENCE_MS + RANK_MS * this.rank ? "not_silent" : undefined;
  }

  /** Whether the clock is too far from those of the others; never with fewer than three cores. */
  get isClockWrong(): boolean {
    return Math.abs(this.medianAheadMs) > MAX_CLOCK_MS;
  }

  /** Whether nothing but a leader stands against a claim, and what is left to read is soon read. */
  get isReady(): boolean {
    const end = Math.max(this.streamLast, this.highest?.sequence ?? 0);
    const isClose = end - this.applied.last <= MAX_BEHIND;
    return isClose && this.otherChain === "" && !this.isClockWrong;
  }

  /** The other cores that would claim if they were handed the lead: by their edges, most first, and name. */
  get able(): readonly string[] {
    return this.ableCores.map(({ core }) => core);
  }

  /** Of those the most edges that one has; 0 if there is none. */
  get mostEdges(): number {
    return this.ableCores[0]?.edges ?? 0;
  }

  private get ableCores(): readonly Heartbeat[] {
    const median = this.medianAheadMs;
    const nowMs = this.nowMs();
    return [...this.heardNow()]
      .filter(({ heartbeat, atMs }) => heartbeat.isReady && nowMs - atMs <= FRESH_MS)
      .filter(({ otherUpTo }) => otherUpTo === 0)
      .filter(({ aheadMs }) => !this.hasMedian || Math.abs(aheadMs - median) <= MAX_CLOCK_MS)
      .map(({ heartbeat }) => heartbeat)
      .sort((a, b) => b.edges - a.edges || (a.core < b.core ? -1 : 1));
  }

  /** With two cores nobody can say whose clock is wrong. */
  private get hasMedian(): boolean {
    return [...this.heardNow()].length >= 2;
  }

  /** How far the median of the clocks is ahead of this core's; 0 of fewer than three. */
  private get medianAheadMs(): number {
    if (!this.hasMedian) return 0;
    const clocks = [0, ...[...this.heardNow()].map(({ aheadMs }) => aheadMs)];
    clocks.sort((a, b) => a - b);
    const middle = clocks.length >> 1;
    return clocks.length % 2 === 1 ? clocks[middle]! : (clocks[middle - 1]! + clocks[middle]!) / 2;
  }

  /** Whether another core has the same clock. */
  get isClockShared(): boolean {
    return [...this.heardNow()].some(({ aheadMs }) => Math.abs(aheadMs) <= MAX_CLOCK_MS);
  }

  /** Other cores that were heard in the last seconds. */
  *heardNow(): Generator<Other> {
    const nowMs = this.nowMs();
    for (const other of this.others.values()) {
      if (nowMs - other.atMs <= HEARD_MS) yield other;
    }
  }

  private forget(nowMs: number): void {
    for (const [core, { atMs }] of this.others) {
      if (nowMs - atMs > HEARD_MS) this.others.delete(core);
    }
  }

  /** The highest sequence is no obstacle once this core has applied it. */
  private reach(): void {
    const { highest } = this;
    if (highest === undefined || highest.sequence > this.applied.last) return;
    this.compare(highest);
    this.highest = undefined;
  }

  private compare({ core, run, sequence, chain }: Named): void {
    const own = this.applied.at(sequence);
    const other = this.others.get(core);
    if (own === undefined || other?.heartbeat.run !== run) return;
    other.otherUpTo = Buffer.compare(own, chain) === 0 ? 0 : sequence;
  }
}
