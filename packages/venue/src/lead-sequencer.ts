/**
 * The sequencer of a core: writes submitted commands to the log while this core leads, and applies every
 * batch that the log delivers, whoever wrote it. One batch is in flight; the next is gathered meanwhile.
 *
 * What becomes of a batch is read, never assumed (docs/adr/0200-one-writer.md): it is delivered, and its
 * submitters are called; or another message is in its place, and then it is in no log. If this core still
 * leads, the same commands go into the next batch. If it does not, all that it had is given up as not
 * executed: links to edges say first that this core leads no more, and answer nothing after that, so the
 * edges send it to the core that leads.
 */
import type { Command } from "@perpgate/engine";
import { epochOf, liveWriters } from "@perpgate/engine/reading";
import type { Batch, CoreLog, CoreRun, OwnBatch, Settled } from "@perpgate/journal";
import { beforeClaim } from "./first-epoch.js";
import type { Machine } from "./machine.js";
import { NotApplied, PendingBatch, type Unanswered } from "./pending-batches.js";
import { encodeRecord, NO_EVIDENCE } from "./record/record.js";
import type { Replica } from "./replica.js";
import type { WriterIdentity } from "./sequencer.js";
import { Submissions } from "./submissions.js";

interface LeadHooks {
  /** The log or the engine failed. */
  onFailure(error: Error): void;
  /** Commands that go in front of the batch that is published now: a tick, or an ask for time. */
  atPublish(): readonly Command[];
  /** This core leads, from the claim on that is applied. */
  onLead(): void;
  /** Another core leads. */
  onLeadLost(): void;
  /** The stamp of a claim. */
  nowMs(): number;
}

/** What was not published for as long, because the stream elects or is away, is given up. */
const UNPUBLISHED_MS = 8_000;
const CHECK_MS = 100;
/** A core that stops waits for as long until the one that it hands over to leads. */
const HANDOVER_MS = 1_500;

/** A promise must not reject. */
export type FirstOfEpoch = readonly Command[] | Promise<readonly Command[]>;

export class LeadSequencer extends Submissions {
  readonly isReplicated = true;
  private log: CoreLog | undefined;
  private closeLog: () => Promise<void> = () => Promise.resolve();
  private mayClaim = false;
  /**
   * What is written in an epoch behind the time and before what clients ask for, which waits for it: with a
   * claim every market awaits an index.
   */
  firstOfEpoch: () => FirstOfEpoch = () => [];
  /** How many edges have a link to this core. */
  edges: () => number = () => 0;
  private begunEpoch = 0;
  /** Of the epoch, while it is not in a batch; undefined before it is known. */
  private first: readonly Command[] | undefined = [];
  /** Of it, what the batch in flight has. */
  private firstInFlight: readonly Command[] = [];
  private inFlight: PendingBatch | undefined;
  private wasLeading = false;
  private endChecks: (() => void) | undefined;
  private onHandedOver: () => void = () => undefined;

  constructor(
    replica: Replica,
    private readonly identity: () => WriterIdentity,
    private readonly own: CoreRun,
    private readonly hooks: LeadHooks,
    machine?: Machine,
  ) {
    super(replica, (error) => hooks.onFailure(error), machine);
  }

  get writer(): string {
    return this.own.run;
  }

  get isLive(): boolean {
    return !this.stopped && this.leader().run === this.own.run;
  }

  /** Applies the log to its end; resolves then, and goes on with new batches. */
  async start(log: CoreLog, closeLog: () => Promise<void>): Promise<void> {
    this.log = log;
    this.closeLog = closeLog;
    void log.stopped.then((error) => this.stop(error));
    await log.start((batch, settled) => this.onBatch(batch, settled));
    if (!this.stopped) this.endChecks = this.machine.every(CHECK_MS, () => this.check());
  }

  /** This core is ready to lead, from now on. */
  stand(): void {
    this.mayClaim = true;
  }

  get isReady(): boolean {
    return this.mayClaim && !this.stopped && this.replica.engine.state.config !== null;
  }

  /** A leader has applied all that any core has answered. */
  async caughtUp(): Promise<void> {
    const refusal = this.refusal();
    if (refusal !== undefined) throw new NotApplied(refusal);
  }

  leader(): { readonly epoch: number; readonly run: string } {
    const { state } = this.replica.engine;
    const epoch = epochOf(state);
    return { epoch, run: epoch === 0 ? "" : (liveWriters(state)[0]?.id ?? "") };
  }

  /** The next batch on the way to lead: a claim, or what has to be in the log before it. */
  claim(): OwnBatch | undefined {
    const { state } = this.replica.engine;
    if (!this.isReady) return undefined;
    const { name, receiptKey, certificate } = this.identity();
    const { run, versions } = this.own;
    const nowMs = this.hooks.nowMs();
    const time = () => this.hooks.atPublish();
    const newcomer = { name, receiptKey, certificate, run, versions, nowMs, time };
    const before = beforeClaim(state, newcomer);
    if (before === undefined) return undefined;
    if (before !== "claim") return encoded(before.counter, before.commands);
    const epoch = epochOf(state) + 1;
    const core = { core: name, run, versions, receiptKey, certificate };
    return encoded(epoch, [{ kind: "CoreLeads", stampMs: nowMs, epoch, ...core }]);
  }

  /** A batch may be proposed. */
  mayPropose(): void {
    this.publish();
  }

  /** Has another core lead; returns its name, empty if there is none. */
  handOver(to?: string): string {
    return this.log?.handOver(to) ?? "";
  }

  /** A leader hands over first: what it has not published then is the next leader's. */
  async close(): Promise<void> {
    this.mayClaim = false;
    if (this.isLive && this.handOver() !== "") {
      await new Promise<void>((resolve) => {
        this.onHandedOver = resolve;
        this.machine.after(HANDOVER_MS, resolve);
      });
    }
    await this.closeLog();
    this.stop(new NotApplied("stopped"));
  }

  protected get unread(): readonly PendingBatch[] {
    return this.inFlight === undefined ? [] : [this.inFlight];
  }

  protected refusal(): Unanswered | undefined {
    if (this.stopped) return "stopped";
    return this.isLive ? undefined : "not_executed";
  }

  protected publish(): void {
    const { log } = this;
    if (!this.isLive || log?.mayPropose !== true || this.inFlight !== undefined) return;
    const time = this.hooks.atPublish();
    const begun = this.begunWith();
    const taken = begun === undefined ? undefined : this.unsent.take();
    const first = [...time, ...(begun ?? [])];
    if (taken === undefined && first.length === 0) return;
    const batch = taken ?? new PendingBatch();
    batch.lead = first.length;
    batch.number = ++this.published;
    this.inFlight = batch;
    this.firstInFlight = begun ?? [];
    const records = first.map((command) => encodeRecord(command, NO_EVIDENCE));
    log.propose(records.concat(batch.records));
  }

  protected giveUp(why: Unanswered): void {
    const { inFlight } = this;
    this.inFlight = undefined;
    if (inFlight !== undefined) this.onAnswered(inFlight.giveUp(why));
    this.onAnswered(this.unsent.giveUp(why));
  }

  protected override stop(error: Error): boolean {
    const isFirst = super.stop(error);
    if (isFirst) {
      this.endChecks?.();
      this.onHandedOver();
    }
    return isFirst;
  }

  private onBatch(batch: Batch, settled: Settled): void {
    if (this.stopped) return;
    const { inFlight } = this;
    const own = settled === "stored" ? inFlight : undefined;
    const isApplied = this.apply(batch, own);
    if (isApplied === undefined) return;
    if (own !== undefined) {
      this.inFlight = undefined;
      // Dropped whole, by every replica.
      if (!isApplied) this.onAnswered(own.giveUp("not_executed"));
    }
    const wasLeading = this.wasLeading;
    this.wasLeading = this.isLive;
    if (!wasLeading && this.isLive) this.hooks.onLead();
    if (wasLeading && !this.isLive) this.onLost();
    else if (settled === "never" && inFlight !== undefined) {
      // A stranger's message is in its place.
      this.inFlight = undefined;
      this.unsent.putBack(inFlight);
      if (this.firstInFlight.length > 0) this.first = this.firstInFlight;
    }
  }

  /** What the next batch has of the beginning of the epoch; undefined while that is not known. */
  private begunWith(): readonly Command[] | undefined {
    const { epoch } = this.leader();
    if (epoch !== this.begunEpoch) {
      this.begunEpoch = epoch;
      const first = this.firstOfEpoch();
      this.first = first instanceof Promise ? undefined : first;
      if (first instanceof Promise) void first.then((commands) => this.onFirst(epoch, commands));
    }
    const { first } = this;
    if (first !== undefined) this.first = [];
    return first;
  }

  private onFirst(epoch: number, commands: readonly Command[]): void {
    if (this.begunEpoch !== epoch) return;
    this.first = commands;
    this.publishSoon();
  }

  private onLost(): void {
    this.hooks.onLeadLost();
    this.giveUp("not_executed");
    this.onHandedOver();
  }

  private check(): void {
    this.onAnswered(this.unsent.giveUpBefore(this.machine.monotonic() - UNPUBLISHED_MS));
  }
}

function encoded(counter: number, commands: readonly Command[]): OwnBatch {
  return { counter, records: commands.map((command) => encodeRecord(command, NO_EVIDENCE)) };
}
