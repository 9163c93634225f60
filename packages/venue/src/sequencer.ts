/**
 * The sequencer: writes submitted commands to the log in batches, as one of the log's writers, and
 * applies every batch that the log delivers, durable. Only then are the submitters of the own commands
 * called, in log order.
 *
 * A log of one machine takes many batches in flight. A replicated log takes one: the next is gathered
 * meanwhile. There an own batch can be dropped, and the own writer can be ended by others (another
 * process of the same name, or 25 ticks without a batch). Then everything without an answer is answered
 * `not_executed`, and the sequencer joins again as a new writer, after a pause: two processes of one
 * name would otherwise end each other's writers as fast as the log delivers. Nothing is submitted twice.
 *
 * A crash loses only commands whose submitters were not called. After a failed write the log accepts
 * nothing more: every pending and every later submitter is called with null.
 */
import { type Command, ENGINE_VERSION, RULE_SETS } from "@perpgate/engine";
import { liveWriters, writerOf } from "@perpgate/engine/reading";
import type { Batch, BatchId, LogSeq, Reading } from "@perpgate/journal";
import { refusalIn } from "./event-fields.js";
import type { Machine } from "./machine.js";
import { type Marker, NotApplied, PendingBatch, type Unanswered } from "./pending-batches.js";
import { encodeRecord, NO_EVIDENCE } from "./record/record.js";
import type { Replica } from "./replica.js";
import { ignore, Submissions } from "./submissions.js";

/** What the sequencer needs of a log: a `Journal`, or a replicated one. */
export interface SequencedLog {
  /** Rejects if the log has failed. */
  append(id: BatchId, records: readonly Uint8Array[]): Promise<void>;
  read(from: LogSeq, onBatch: (batch: Batch) => void): Reading;
  readonly stopped: Promise<Error>;
  close(): Promise<void>;
  /** Present in a replicated log: the batch in flight is not published again. */
  abandon?(): void;
}

/** How the writer introduces itself to the log. */
export interface WriterIdentity {
  /** The gateway's: a later writer of the same name ends this one. */
  readonly name: string;
  /** Hex; empty without one. */
  readonly receiptKey: string;
  readonly certificate: string;
}

export interface WriterLoss {
  /** By another process, which has joined under the same name. */
  readonly isReplaced: boolean;
  /** The pause before the next join. */
  readonly joinsAgainMs: number;
}

export interface SequencerHooks {
  /** The log or the engine failed. */
  onFailure(error: Error): void;
  /** Commands that go in front of the batch that is published now: a tick, or an ask for time. */
  atPublish(): readonly Command[];
  /** The own writer has ended and a new one will join. The log has its sockets as gone. */
  onWriterLost(loss: WriterLoss): void;
  /** The log has refused a join; not called again for the same reason before a join succeeds. */
  onJoinRefused?(reason: string): void;
  /** The stamp of the commands that the sequencer itself writes. */
  nowMs(): number;
}

/** The oldest and the newest version of the rules that this release can read. */
export const READABLE_VERSIONS = [RULE_SETS[0]?.version ?? ENGINE_VERSION, ENGINE_VERSION] as const;

/** In a replicated log: an own batch at least this often, as a sign of life. */
const HEARTBEAT_MS = 1_000;
/** What was not published for as long, a command or a caller that waits for a batch, is given up. */
const UNPUBLISHED_MS = 1_000;
/** After this time in flight the submitter learns that the outcome is unknown. */
const IN_FLIGHT_MS = 10_000;
const CHECK_MS = 100;
/** Between two batches without a command: what reads wait for must not fill the log. */
const MARKERS_APART_MS = 50;
/**
 * Before the next join. Doubles up to the longest pause while joins are refused, and while writers end
 * sooner than `SETTLED_MS`.
 */
const JOIN_AGAIN_MS = 250;
const LONGEST_JOIN_AGAIN_MS = 30_000;
const SETTLED_MS = 30_000;

export class Sequencer extends Submissions {
  writer = "";
  private counter = 0;
  private isJoined = false;
  private joinedAtMs = 0;
  private joinAgainMs = JOIN_AGAIN_MS;
  /**
   * Published batches that the log has not delivered, the oldest first. Not a Map: entries deleted
   * from a Map stay reachable in its outgrown hash tables until the next full garbage collection, and
   * a batch holds all of its requests.
   */
  private readonly inFlight: PendingBatch[] = [];
  private reading: Reading | null = null;
  private endChecks: (() => void) | undefined;
  private publishedAtMs = 0;
  private markersAtMs = Number.NEGATIVE_INFINITY;
  private isClosing = false;
  private onJoin: (error: Error | null) => void = ignore;

  constructor(
    private readonly log: SequencedLog,
    replica: Replica,
    /** Asked at each join, and at each end of the writer. */
    private readonly identity: () => WriterIdentity,
    private readonly hooks: SequencerHooks,
    machine?: Machine,
  ) {
    super(replica, (error) => hooks.onFailure(error), machine);
    void log.stopped.then((error) => this.stop(error));
  }

  /** Whether the log may have other writers. */
  get isReplicated(): boolean {
    return this.log.abandon !== undefined;
  }

  /** False before the first join, while a new writer joins, and after a stop. */
  get isLive(): boolean {
    return this.isJoined && !this.stopped;
  }

  /** Applies the log from `from` to its end; resolves then, and goes on with new batches. */
  async start(from: LogSeq): Promise<void> {
    this.reading = this.log.read(from, (batch) => this.onBatch(batch));
    await this.reading.live;
  }

  /** Joins the log's writers; resolves once that is applied. */
  async join(): Promise<void> {
    // The log may have failed before.
    if (this.stopped) throw new NotApplied("stopped");
    const joined = new Promise<void>((resolve, reject) => {
      this.onJoin = (error) => (error === null ? resolve() : reject(error));
    });
    this.publishJoin();
    if (this.isReplicated) this.endChecks ??= this.machine.every(CHECK_MS, () => this.check());
    await joined;
  }

  /**
   * Resolves once a batch that is published from now on has come back: then everything is applied that
   * any gateway had answered before the call. Immediately if no other writer exists. Rejects with
   * `NotApplied`, as a command would be answered.
   */
  caughtUp(): Promise<void> {
    if (!this.isReplicated) return Promise.resolve();
    if (this.stopped) return Promise.reject(new NotApplied("stopped"));
    return new Promise((resolve, reject) => {
      const marker: Marker = (why) => (why === null ? resolve() : reject(new NotApplied(why)));
      this.addMarker(marker);
    });
  }

  /** Ends the writer in the log, and closes the log after every submitted command was applied. */
  async close(): Promise<void> {
    this.isClosing = true;
    if (this.isLive) {
      const stampMs = this.hooks.nowMs();
      await this.submitted({ kind: "WriterLeft", stampMs }, NO_EVIDENCE, ignore).catch(ignore);
    }
    await this.log.close();
    this.reading?.close();
    this.stop(new NotApplied("stopped"));
  }

  protected refusal(): Unanswered | undefined {
    return this.stopped ? "stopped" : undefined;
  }

  protected publish(): void {
    while (this.isLive && !(this.isReplicated && this.inFlight.length > 0)) {
      const first = this.hooks.atPublish();
      if (first.length === 0 && this.unsent.hasOnlyMarkers) {
        const nowMs = this.machine.monotonic();
        if (nowMs < this.markersAtMs + MARKERS_APART_MS) return;
        this.markersAtMs = nowMs;
      }
      const batch = this.unsent.take();
      if (batch === undefined && first.length === 0) return;
      this.send(batch ?? new PendingBatch(), first);
    }
  }

  private send(batch: PendingBatch, first: readonly Command[]): void {
    if (first.length > 0) {
      batch.records.unshift(...first.map((command) => encodeRecord(command, NO_EVIDENCE)));
    }
    batch.lead = first.length;
    batch.counter = this.counter;
    this.published++;
    batch.number = this.published;
    batch.publishedAtMs = this.submittedAt();
    this.counter++;
    this.publishedAtMs = batch.publishedAtMs;
    this.inFlight.push(batch);
    const id = { writer: this.writer, counter: batch.counter };
    this.log.append(id, batch.records).catch((error: Error) => this.stop(error));
  }

  private publishJoin(): void {
    if (this.stopped || this.isClosing) return;
    const { name, receiptKey, certificate } = this.identity();
    const stampMs = this.hooks.nowMs();
    this.writer = this.machine.newWriter();
    this.counter = 0;
    const { writer } = this;
    this.send(new PendingBatch(), [
      {
        kind: "WriterJoined",
        stampMs,
        writer,
        name,
        versions: READABLE_VERSIONS,
        receiptKey,
        certificate,
      },
    ]);
  }

  private onBatch(batch: Batch): void {
    if (this.stopped) return;
    const own = this.ownBatch(batch);
    // Before it is applied: observers read it at the end of the batch.
    if (own !== undefined) this.returned = own.number;
    let isApplied: boolean;
    let refusal = "";
    try {
      isApplied = this.replica.applyBatch(batch, (index, applied) => {
        if (own === undefined) return;
        if (index >= own.lead) this.onAnswered(own.notify(index, applied));
        else if (own.counter === 0) refusal = refusalIn(applied.events);
      });
    } catch (error) {
      this.stop(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (own !== undefined) {
      this.inFlight.shift();
      if (!isApplied) {
        // Dropped whole, by every replica: it has no result and never will.
        this.onAnswered(own.giveUp("not_executed"));
        refusal = this.replica.dropped ?? "";
      }
    }
    const isLive = writerOf(this.replica.engine.state, this.writer) !== undefined;
    if (own?.counter === 0) this.onOwnJoin(isApplied && isLive, refusal);
    else if (this.isJoined && !(isLive && (own === undefined || isApplied))) this.onLost();
    if (own === undefined) return;
    own.conclude();
    this.publish();
  }

  /** The log delivers in order: the next own batch is the oldest in flight. */
  private ownBatch({ id }: Batch): PendingBatch | undefined {
    const oldest = this.inFlight[0];
    return id.writer === this.writer && id.counter === oldest?.counter ? oldest : undefined;
  }

  private onOwnJoin(hasJoined: boolean, refusal: string): void {
    if (hasJoined) {
      this.isJoined = true;
      this.joinRefusal = "";
      this.joinedAtMs = this.machine.monotonic();
      this.onJoin(null);
      return;
    }
    if (!this.isReplicated) {
      this.stop(new Error("the log did not accept its only writer"));
      return;
    }
    if (refusal !== this.joinRefusal) this.hooks.onJoinRefused?.(refusal);
    this.joinRefusal = refusal;
    this.machine.after(this.nextJoinPause(), () => this.publishJoin());
  }

  /** The own writer has ended, or its batch was dropped: what has no answer will never be executed. */
  private onLost(): void {
    this.isJoined = false;
    if (!this.isReplicated) {
      if (this.isClosing) return;
      this.stop(new Error("the log dropped a batch of its only writer"));
      return;
    }
    this.log.abandon?.();
    this.giveUp("not_executed");
    if (this.isClosing) return;
    const livedMs = this.machine.monotonic() - this.joinedAtMs;
    if (livedMs >= SETTLED_MS) this.joinAgainMs = JOIN_AGAIN_MS;
    const joinsAgainMs = this.nextJoinPause();
    this.hooks.onWriterLost({ isReplaced: this.isReplaced(), joinsAgainMs });
    this.machine.after(joinsAgainMs, () => this.publishJoin());
  }

  private nextJoinPause(): number {
    const pauseMs = this.joinAgainMs;
    this.joinAgainMs = Math.min(2 * pauseMs, LONGEST_JOIN_AGAIN_MS);
    return pauseMs;
  }

  /** A join ends the live writer of the same name, so only one is live. */
  private isReplaced(): boolean {
    const { name } = this.identity();
    const live = liveWriters(this.replica.engine.state);
    return live.some((writer) => writer.name === name && writer.id !== this.writer);
  }

  /** What time alone decides, in a replicated log. */
  private check(): void {
    const nowMs = this.machine.monotonic();
    this.onAnswered(this.unsent.giveUpBefore(nowMs - UNPUBLISHED_MS));
    for (const batch of this.inFlight) {
      if (batch.publishedAtMs > nowMs - IN_FLIGHT_MS) break;
      this.onAnswered(batch.giveUp("outcome_unknown"));
    }
    if (this.isLive && this.inFlight.length === 0 && this.publishedAtMs <= nowMs - HEARTBEAT_MS) {
      this.send(this.unsent.take() ?? new PendingBatch(), this.hooks.atPublish());
    }
    if (this.unsent.hasOnlyMarkers) this.publish();
  }

  protected giveUp(why: Unanswered): void {
    for (const batch of this.inFlight.splice(0)) this.onAnswered(batch.giveUp(why));
    this.onAnswered(this.unsent.giveUp(why));
  }

  protected override stop(error: Error): boolean {
    const isFirst = super.stop(error);
    if (!isFirst) return false;
    this.endChecks?.();
    this.onJoin(error);
    return true;
  }
}
