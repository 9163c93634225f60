/**
 * The venue: one replica, its own journal, and everything around them. Commands come in through
 * `submit` and are answered in log order once they are durable and applied; readers ask `views`.
 *
 *   1. journal     look, compare its end with what else is there, cut a torn tail
 *   2. history     open, or rebuild                             recovery/open-data.ts
 *   3. replica     newest snapshot, then the log                recovery/recover.ts
 *   4. clock       the time to start at                         time/start-time.ts
 *   5. genesis     on an empty log; otherwise Resume, and Configure if the file has changed; the
 *                  first list of those who may trade, until it is complete
 *   6. slotClock      time, every 200 ms                           time/slot-clock.ts
 *   7. checkpoints snapshots and state hashes, another thread   checkpoint/checkpointer.ts
 *
 * Nothing is answered that is not durable. If the log, the engine, the history or the second
 * replica fails, every submitter hears that the venue has stopped, `failed` resolves, and the
 * process is to exit with an error: the log decides what was acknowledged, and the next start reads
 * it. A crash at any step is met by the next open.
 */
import type { Command } from "@perpgate/engine";
import { type FileJournal, type LogSeq, PruneRefused, type SpareStatus } from "@perpgate/journal";
import type { Checkpointer } from "./checkpoint/checkpointer.js";
import type { Failure } from "./failure.js";
import type { History } from "./history/history.js";
import type { Listing } from "./listing/listing.js";
import { openVenue, type VenueParts } from "./open-venue.js";
import type { Evidence } from "./record/evidence.js";
import type { RecoveryReport } from "./recovery/recover.js";
import type { Applied, CommandObserver } from "./replica.js";
import { type Sequencer, type Submitter, VenueStopped } from "./sequencer.js";
import type { ClockKeeper } from "./time/clock-keeper.js";
import type { SlotClock } from "./time/slot-clock.js";
import type { JumpKind, VenueClock } from "./time/venue-clock.js";
import type { VenueOptions } from "./venue-options.js";
import type { Views } from "./views/views.js";

export class Venue {
  readonly views: Views;
  readonly listing: Listing;
  readonly history: History;
  readonly recovery: RecoveryReport;
  /** Resolves, with the reason, if the venue stops by itself. */
  readonly failed: Promise<Error>;
  private readonly journal: FileJournal;
  private readonly sequencer: Sequencer;
  private readonly clock: VenueClock;
  private readonly clockKeeper: ClockKeeper;
  private readonly slotClock: SlotClock;
  private readonly checkpointer: Checkpointer | undefined;
  private readonly observers: Set<CommandObserver>;
  private readonly failure: Failure;
  private closing: Promise<void> | undefined;

  private constructor(parts: VenueParts) {
    this.views = parts.views;
    this.listing = parts.listing;
    this.history = parts.history;
    this.recovery = parts.recovery;
    this.failure = parts.failure;
    this.failed = parts.failure.promise;
    this.journal = parts.journal;
    this.sequencer = parts.sequencer;
    this.clock = parts.clock;
    this.clockKeeper = parts.clockKeeper;
    this.slotClock = parts.slotClock;
    this.checkpointer = parts.checkpointer;
    this.observers = parts.observers;
  }

  static async open(options: VenueOptions): Promise<Venue> {
    return new Venue(await openVenue(options));
  }

  /** Commands handed in and not yet answered: what overload is judged by. */
  get waiting(): number {
    return this.sequencer.waiting;
  }

  /** Whether the history is so far behind that no order should be let in; commands are still taken. */
  get isBehind(): boolean {
    return this.history.isBehind;
  }

  /** Whether the next segment of the log is allocated; without it the venue stops when it needs it. */
  get spareSegment(): SpareStatus {
    return this.journal.spare;
  }

  get isStopped(): boolean {
    return this.sequencer.isStopped;
  }

  /** Log position of the last command applied. */
  get seq(): number {
    return this.sequencer.seq;
  }

  /** The venue's time as this machine sees it: what to stamp a command with. */
  nowMs(): number {
    return this.clock.nowMs();
  }

  /** What the machine's wall clock says: what to judge times by that others wrote down. */
  wallMs(): number {
    return this.clock.wallMs();
  }

  /** How far the wall clock is ahead of the venue's time; negative: behind. */
  get clockLeadMs(): number {
    return this.clock.leadMs;
  }

  /** Jumps of the wall clock since the start, by what was made of them. */
  get clockJumps(): Readonly<Record<JumpKind, number>> {
    return this.clock.jumps;
  }

  /** Appends a command. The submitter hears of it once it is durable and applied, or of the stop. */
  submit(command: Command, evidence: Evidence, submitter: Submitter): void {
    this.sequencer.submit(command, evidence, submitter);
  }

  /** The same as a promise, with what `take` reads while the events are valid. */
  submitted<T>(command: Command, evidence: Evidence, take: (applied: Applied) => T): Promise<T> {
    return this.sequencer.submitted(command, evidence, take);
  }

  /** Watches every command from now on; answers how to stop. Views are up to date when it is called. */
  observe(observer: CommandObserver): () => void {
    this.observers.add(observer);
    return () => this.observers.delete(observer);
  }

  /**
   * Gives up segments of the log that neither a restart nor the history needs any more; answers how
   * many went. Nothing calls it by itself: what is pruned can no longer be verified by anyone. It
   * reads the newest snapshot on the calling thread.
   */
  prune(): number {
    const newest = this.journal.snapshots.list()[0]?.seq;
    if (newest === undefined) return 0;
    const { batch, record } = this.history.durable;
    return this.journal.prune(newest.batch <= batch ? newest : { batch, record });
  }

  /**
   * Gives up the log below a place that `planPrune` has found; returns how many segments went. Throws
   * `PruneRefused` if the history on disk has not reached it.
   */
  pruneBelow(below: LogSeq): number {
    const { batch } = this.history.durable;
    if (batch < below.batch) throw new PruneRefused(`the history on disk ends at batch ${batch}`);
    return this.journal.prune(below);
  }

  /** Answers what was handed in, then lets go of everything. */
  close(): Promise<void> {
    this.closing ??= this.closeOnce();
    return this.closing;
  }

  /**
   * For a process that has failed: every submitter gets its answer now, nothing more is written, and
   * the promise resolves once no thread holds the history. The log needs nothing: what was
   * acknowledged is durable.
   */
  async abandon(): Promise<void> {
    this.slotClock.stop();
    this.failure.ignore();
    this.sequencer.fail(new VenueStopped());
    await this.history.abandon();
  }

  private async closeOnce(): Promise<void> {
    this.slotClock.stop();
    this.clockKeeper.close();
    await this.checkpointer?.close();
    await this.sequencer.close();
    await this.history.close().catch(() => undefined);
  }
}
