/**
 * A core's part in the replicated log: it applies what it reads, leads or stands by, claims when the leader
 * is silent, and hands over. Without sockets and clocks of its own: `FencedLog` gives it those of a process,
 * the simulator modelled ones.
 */

import type { Batch, CoreLogHooks, Settled } from "@perpgate/journal";
import type { MessageChain } from "./chain.js";
import { Fence, type FencePorts } from "./fence.js";
import type { CoreSays } from "./heartbeat.js";
import type { Incoming } from "./incoming.js";
import { contradiction, type LeaderAnswer } from "./leader-watch.js";
import { type AppliedChain, BREAK_MS, Takeover } from "./takeover.js";

/** Between two copies of the message in flight. */
export const REPEAT_MS = 250;
/** A leader that hands over writes nothing for as long; then it goes on if nobody has claimed. */
export const HANDS_OVER_MS = 1_500;
/** Where nobody has claimed it writes for as long before it hands over by itself once more. */
const LEADS_ON_MS = 5_000;
/** A lead that has begun lasts as long, so that whatever its edges do it moves rarely. */
export const SETTLES_MS = 2_000;
/** Another core has had more edges for as long: longer than two cores take to notice that one edge is gone. */
export const FEWER_EDGES_MS = 500;

export interface LogCorePorts
  extends Omit<FencePorts, "deliver">,
    Pick<CoreLogHooks, "leader" | "claim" | "isReady" | "edges"> {
  /** Applies the batch; called for every message, in order. */
  deliver(batch: Batch, settled: Settled): void;
  /** Monotonic, and the wall clock, in milliseconds. */
  nowMs(): number;
  clockMs(): number;
}

export interface LogCoreOptions {
  readonly stream: string;
  readonly core: string;
  readonly run: string;
  readonly rank: number;
  readonly versions: readonly [number, number];
  readonly chain: MessageChain;
}

export class LogCore {
  readonly takeover: Takeover;
  private readonly fence: Fence;
  private publishedAtMs = Number.NEGATIVE_INFINITY;
  /** Whether the message that was applied last is this run's. */
  private hasWrittenLast = false;
  private confirmedAtMs = Number.NEGATIVE_INFINITY;
  private handsTo = "";
  private handsOverUntilMs = Number.NEGATIVE_INFINITY;
  private leadsOnUntilMs = Number.NEGATIVE_INFINITY;
  /** Since when another core has had more edges. */
  private fewerEdgesSinceMs: number | undefined;

  constructor(
    private readonly options: LogCoreOptions,
    private readonly ports: LogCorePorts,
  ) {
    const { stream, core, run, rank, chain } = options;
    this.fence = new Fence(stream, run, chain, {
      blocks: ports.blocks,
      mirror: (sequence, record) => ports.mirror(sequence, record),
      publish: (message, expectedLast) => {
        this.publishedAtMs = ports.nowMs();
        ports.publish(message, expectedLast);
      },
      deliver: (batch, settled) => {
        this.hasWrittenLast = settled === "stored";
        ports.deliver(batch, settled);
      },
    });
    const applied: AppliedChain = chain;
    this.takeover = new Takeover(
      core,
      rank,
      applied,
      () => ports.nowMs(),
      () => ports.clockMs(),
    );
  }

  /** Whether this run leads, by what it has applied. */
  get leads(): boolean {
    return this.ports.leader().run === this.options.run;
  }

  /** Whether a batch may be proposed now. */
  get mayPropose(): boolean {
    return this.leads && !this.fence.isInFlight && !this.isHandingOver && this.isConfirmed;
  }

  get isInFlight(): boolean {
    return this.fence.isInFlight;
  }

  /**
   * Whether the stream's leader has just had the message that was applied last. Nothing is published
   * otherwise: after servers were restored from an older copy and filled again, the end of the stream
   * passes the expected sequence once more.
   */
  private get isConfirmed(): boolean {
    return this.ports.nowMs() - this.confirmedAtMs <= BREAK_MS;
  }

  private get isHandingOver(): boolean {
    return this.handsTo !== "" && this.ports.nowMs() < this.handsOverUntilMs;
  }

  /** Whether another core may claim as soon as it hears that. */
  get isOffering(): boolean {
    return this.isHandingOver && !this.fence.isInFlight;
  }

  /** Publishes a batch of the leader. */
  propose(records: readonly Uint8Array[]): void {
    if (!this.mayPropose) throw new Error("a batch is in flight, or this core does not lead");
    this.fence.propose(this.ports.leader().epoch, records);
  }

  /** Message last + 1. @throws ClusterError */
  accept(incoming: Incoming): void {
    const before = this.leads;
    this.fence.accept(incoming);
    this.takeover.delivered();
    if (before && !this.leads) this.handsTo = "";
    if (!before && this.leads) this.leadsOnUntilMs = this.ports.nowMs() + SETTLES_MS;
  }

  /** From time to time: repeats what is in flight, or claims. */
  tick(): void {
    const nowMs = this.ports.nowMs();
    if (!this.isHandingOver) this.handsTo = "";
    if (this.leads && this.handsTo === "") this.leaveIfUnfit(nowMs);
    if (this.fence.isInFlight) {
      if (nowMs - this.publishedAtMs >= REPEAT_MS) this.repeat();
      return;
    }
    if (this.leads || !this.isConfirmed || !this.isDue) return;
    const claim = this.ports.claim();
    if (claim !== undefined) this.fence.propose(claim.counter, claim.records);
  }

  /** With a wrong clock, or where others have links to edges that this core has not. */
  private leaveIfUnfit(nowMs: number): void {
    const hasFewer = this.takeover.mostEdges > this.ports.edges();
    this.fewerEdgesSinceMs = hasFewer ? (this.fewerEdgesSinceMs ?? nowMs) : undefined;
    const isFewer = hasFewer && nowMs - (this.fewerEdgesSinceMs ?? nowMs) >= FEWER_EDGES_MS;
    if (nowMs < this.leadsOnUntilMs || !(isFewer || this.takeover.isClockWrong)) return;
    if (this.handOver() === "") return;
    // If the other one does not claim.
    this.leadsOnUntilMs = nowMs + HANDS_OVER_MS + LEADS_ON_MS;
  }

  /** Whether to claim now. What this core wrote itself on the way to the first epoch is no other's sign of life. */
  private get isDue(): boolean {
    const { obstacle } = this.takeover;
    if (obstacle === undefined) return true;
    return obstacle === "not_silent" && this.hasWrittenLast && this.ports.leader().epoch === 0;
  }

  /** Publishes what is in flight once more, as on a new connection. */
  repeat(): void {
    if (this.isConfirmed) this.fence.repeat();
  }

  /** @throws ClusterError if the stream has another message than this core applied. */
  answered({ sequence, has, last, askedAtMs }: LeaderAnswer): void {
    const { chain } = this.options;
    if (has === "other") throw contradiction(sequence);
    if (has === "none") {
      this.confirmedAtMs = Number.NEGATIVE_INFINITY;
      this.takeover.unanswered();
      return;
    }
    this.confirmedAtMs = Math.max(this.confirmedAtMs, askedAtMs);
    this.takeover.answered(sequence === last && last === chain.last, last);
  }

  /** The stream's leader did not answer. */
  unanswered(): void {
    this.takeover.unanswered();
  }

  /**
   * Lets another core claim without waiting for silence: the one named, or of those that are able one with
   * the most edges.
   * Returns its name; empty if there is none.
   */
  handOver(to = ""): string {
    if (!this.leads) return "";
    const { able } = this.takeover;
    const chosen = to === "" ? able[0] : able.find((core) => core === to);
    if (chosen === undefined) return "";
    this.handsTo = chosen;
    this.handsOverUntilMs = this.ports.nowMs() + HANDS_OVER_MS;
    return chosen;
  }

  heartbeat(): CoreSays {
    const { core, run, versions, chain } = this.options;
    return {
      core,
      run,
      epoch: this.ports.leader().epoch,
      leads: this.leads,
      sequence: chain.last,
      chain: chain.head,
      clockMs: this.ports.clockMs(),
      versions,
      isReady: this.isConfirmed && this.takeover.isReady && this.ports.isReady(),
      edges: this.ports.edges(),
      // Only once everything is read: the other core claims after that.
      handsTo: this.isOffering ? this.handsTo : "",
    };
  }
}
