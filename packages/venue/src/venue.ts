/**
 * The venue: one replica, its journal, its history and its clock. Commands go in through `submit`;
 * their submitters are called in log order once the commands are durable and applied. `views` reads.
 * `open` runs these steps:
 *
 *   1. journal     inspect, compare its end with history, checkpoints and snapshots, cut a torn tail
 *   2. history     open, or rebuild                             recovery/open-data.ts
 *   3. replica     newest snapshot, then the log                recovery/recover.ts
 *   4. clock       the time to start at                         time/start-time.ts
 *   5. beginning   Genesis on an empty log; this process joins as a writer; the time, the configuration
 *                  and the first allowlist, where they have changed
 *   6. slot clock  a Tick every 200 ms                          time/slot-clock.ts
 *   7. checkpoints snapshots and state hashes, another thread   checkpoint/snapshot-taker.ts
 *   8. promises    receipts and the transparency log            receipts/promises.ts
 *
 * If the log, the engine, the history or the replica of its thread fails, every submitter is called with
 * null, `failed` resolves, and the process must exit with an error. The log decides what was
 * acknowledged; the next open recovers from a crash at any step.
 */
import type { Command } from "@perpgate/engine";
import { epochOf, liveWriters } from "@perpgate/engine/reading";
import { type LogSeq, PruneRefused, type SpareStatus } from "@perpgate/journal";
import type { History } from "./history/history.js";
import { hexOf } from "./history/history-store.js";
import type { FirstOfEpoch } from "./lead-sequencer.js";
import { checkConfig, checkContinuation } from "./listing/config-change.js";
import type { Listing } from "./listing/listing.js";
import { openVenue, type VenueParts } from "./open-venue.js";
import { NotApplied, type Submitter } from "./pending-batches.js";
import { AppliedWaits } from "./positions.js";
import type { Promises } from "./receipts/promises.js";
import type { Evidence } from "./record/record.js";
import type { RecoveryReport } from "./recovery/recover.js";
import type { Applied, CommandObserver } from "./replica.js";
import type { ReservesBook } from "./reserves/reserves-book.js";
import type { BatchSubmitter } from "./submissions.js";
import { MAX_FOLLOWED_MS } from "./time/start-time.js";
import { type JumpKind, MAX_LAG_MS } from "./time/venue-clock.js";
import { submitConfiguration, type VenueConfiguration } from "./venue-beginning.js";
import type { VenueOptions } from "./venue-options.js";
import type { Views } from "./views/views.js";

export class Venue {
  readonly views: Views;
  readonly listing: Listing;
  readonly history: History;
  readonly recovery: RecoveryReport;
  /** Receipts and the transparency log; null: none. */
  readonly promises: Promises | null;
  /** What it owes, as committed; null: it has no transparency log. */
  readonly reserves: ReservesBook | null;
  /** Resolves with the reason if a part of the venue fails. */
  readonly failed: Promise<Error>;
  private readonly positions: AppliedWaits;
  private closing: Promise<void> | undefined;

  private constructor(private readonly parts: VenueParts) {
    this.views = parts.views;
    this.listing = parts.listing;
    this.history = parts.history;
    this.recovery = parts.recovery;
    this.promises = parts.promises;
    this.reserves = parts.reserves;
    this.failed = parts.failure.promise;
    this.positions = new AppliedWaits(parts.sequencer);
    parts.observers.add(this.positions);
  }

  static async open(options: VenueOptions): Promise<Venue> {
    return new Venue(await openVenue(options));
  }

  /** The id of its log, lower-case hex. */
  get logId(): string {
    return hexOf(this.parts.journal.recovery.logId);
  }

  /** Submitted commands whose submitters have not been called: the measure of overload. */
  get waiting(): number {
    return this.parts.sequencer.waiting;
  }

  /** Whether the next segment of the log is allocated; if it is missing when needed, the venue stops. */
  get spareSegment(): SpareStatus {
    return this.parts.journal.spare;
  }

  get isStopped(): boolean {
    return this.parts.sequencer.isStopped;
  }

  /** Seq of the last command applied. */
  get seq(): number {
    return this.parts.sequencer.seq;
  }

  /** After the last durable batch of the log. */
  get end(): LogSeq {
    return this.parts.journal.end;
  }

  /**
   * The venue's time: the stamp for a command submitted now. In a replicated log a clock that is put
   * right can take it back; the log's time does not go back by such a stamp.
   */
  nowMs(): number {
    return this.parts.clock.nowMs();
  }

  /** The same, as far as the log takes a stamp, and never back. */
  steadyMs(): number {
    return this.parts.clock.steadyMs();
  }

  /** The machine's wall clock, to judge time stamps of other machines. */
  wallMs(): number {
    return this.parts.clock.wallMs();
  }

  /** How far the wall clock is ahead of the venue's time; negative: behind. */
  get clockLeadMs(): number {
    return this.parts.clock.leadMs;
  }

  /** Jumps of the wall clock since the start, by how the venue reacted. */
  get clockJumps(): Readonly<Record<JumpKind, number>> {
    return this.parts.clock.jumps;
  }

  /** Appends a command; calls `submitter` once it is durable and applied, or with null on a stop. */
  submit(command: Command, evidence: Evidence, submitter: Submitter): void {
    this.parts.sequencer.submit(command, evidence, submitter);
  }

  /**
   * Submits the operations of a signed batch (`PlaceOrder`, `AmendOrder`, `CancelOrder`, each with its
   * `batch` place, all with the same session, stamp and nonce): consecutive positions in one durable
   * batch of the log. The evidence, body and signature of the whole, is stored with the first.
   * `submitter` is called once per operation, in order; the one with the last index is the end of it.
   */
  submitTogether(
    commands: readonly Command[],
    evidence: Evidence,
    submitter: BatchSubmitter,
  ): void {
    this.parts.sequencer.submitTogether(commands, evidence, submitter);
  }

  /** Calls back once every command that is submitted by now has its result or was given up. */
  whenSettled(callback: () => void): void {
    this.parts.sequencer.whenSettled(callback);
  }

  /** As `submit`; resolves with what `take` returns. The events are valid only during `take`. */
  submitted<T>(command: Command, evidence: Evidence, take: (applied: Applied) => T): Promise<T> {
    return this.parts.sequencer.submitted(command, evidence, take);
  }

  /** Appends a changed configuration; rejects with `ConfigRefused`. */
  configure(terms: VenueConfiguration): Promise<void> {
    const { state, sequencer } = this.parts;
    checkConfig(terms.config, terms.listing, terms.attestors ?? null);
    const current = { config: state.engine.state.config!, listing: state.listing.markets };
    checkContinuation(current, terms.config, terms.listing);
    return submitConfiguration(terms, state, sequencer, this.nowMs());
  }

  /** Whether cores lead the log by turns. */
  get isReplicated(): boolean {
    return this.parts.sequencer.isReplicated;
  }

  /** Names of the live writers: of the core that leads, if it has claimed. */
  get writers(): readonly string[] {
    return liveWriters(this.parts.state.engine.state).map(({ name }) => name);
  }

  /** How far the wall clock of this machine is ahead of the log's time; negative: behind. */
  get logLeadMs(): number {
    return this.parts.clock.wallMs() - this.parts.state.engine.state.timeMs;
  }

  /** When the market's index was observed; 0 before the first. */
  indexAtMs(market: number): number {
    return this.parts.state.engine.state.markets[market]?.indexAtMs ?? 0;
  }

  /** Resolves with whether the position is applied within a second. */
  reached(position: number): Promise<boolean> {
    return this.positions.reached(position);
  }

  /**
   * The same, for a position that may be in no log: also true once this core has led since the call, so that
   * everything is applied that any core had answered before. Takes up to two seconds.
   */
  reachedIfAnswered(position: number): Promise<boolean> {
    return this.positions.reachedIfAnswered(position);
  }

  /** The id of this process's writer. */
  get writer(): string {
    return this.parts.sequencer.writer;
  }

  /** Whether this process may write the log now. */
  get isWriting(): boolean {
    return this.parts.sequencer.isLive;
  }

  /** Whether this core leads: always, unless cores of its log lead by turns. */
  get isLeading(): boolean {
    return this.parts.lead?.isLive ?? true;
  }

  /** Whether this core only applies what another one writes, or may lead next. */
  get isStandby(): boolean {
    return this.parts.lead?.isLive === false && !this.isStopped;
  }

  /** Has another core lead, the one named or any that is able; returns its name, empty if there is none. */
  handOver(to?: string): string {
    return this.parts.lead?.handOver(to) ?? "";
  }

  /**
   * Sets what this core writes first whenever it begins to lead, behind the time: the indexes. What clients
   * ask for waits for a promise, which must not reject.
   */
  set firstOfEpoch(commands: () => FirstOfEpoch) {
    if (this.parts.lead !== undefined) this.parts.lead.firstOfEpoch = commands;
  }

  /** Sets what says how many edges have a link to this core: the lead goes to one that has more. */
  set edges(count: () => number) {
    if (this.parts.lead !== undefined) this.parts.lead.edges = count;
  }

  /** Whether the log's time is so far behind this machine's clock that orders would be misjudged. */
  get isTimeBehind(): boolean {
    // A core that leads asks for the time before it writes anything else.
    return this.logLeadMs > (this.parts.lead === undefined ? MAX_LAG_MS : MAX_FOLLOWED_MS);
  }

  /** Of the core that leads; 0 of a log on this machine's disk. */
  get epoch(): number {
    return epochOf(this.parts.state.engine.state);
  }

  /** Observes every command from now on, after the views; returns a function that ends it. */
  observe(observer: CommandObserver): () => void {
    this.parts.observers.add(observer);
    return () => this.parts.observers.delete(observer);
  }

  /**
   * Removes segments of the log that neither a restart nor the history needs; returns how many. Only
   * called on request: nobody can verify the pruned part afterwards. Reads the newest snapshot on the
   * calling thread.
   */
  prune(): number {
    const newest = this.parts.journal.snapshots.list()[0]?.seq;
    if (newest === undefined) return 0;
    const { batch, record } = this.history.durable;
    return this.parts.journal.prune(newest.batch <= batch ? newest : { batch, record });
  }

  /**
   * Removes the segments below a position from `planPrune`, between commits of the log; resolves with how many.
   * Rejects if the history on disk has not reached it.
   */
  async pruneBelow(below: LogSeq): Promise<number> {
    const { batch } = this.history.durable;
    if (batch < below.batch) throw new PruneRefused(`the history on disk ends at batch ${batch}`);
    return this.parts.journal.pruneBetweenCommits(below);
  }

  /** Applies what was submitted, then closes every part. */
  close(): Promise<void> {
    this.closing ??= this.closeOnce();
    return this.closing;
  }

  /**
   * For a process that has failed: calls every pending submitter with null, writes nothing more, and
   * resolves once no thread has the history open. Every acknowledged command is durable in the log.
   */
  async abandon(): Promise<void> {
    this.parts.slotClock.stop();
    this.parts.failure.ignore();
    this.parts.sequencer.fail(new NotApplied("stopped"));
    this.promises?.stop();
    await this.history.abandon();
  }

  private async closeOnce(): Promise<void> {
    this.parts.slotClock.stop();
    this.parts.clockRecorder.close();
    this.parts.later.cancel();
    this.parts.snapshots?.stop();
    await this.parts.sequencer.close();
    await this.promises?.close();
    await this.history.close().catch(() => undefined);
  }
}
