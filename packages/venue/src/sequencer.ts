/**
 * The sequencer of a venue on one machine: writes submitted commands to the log in batches, as the log's only
 * writer, and applies every batch that the log delivers, durable. Only then are the submitters called, in log
 * order. Many batches may be in flight.
 *
 * A crash loses only commands whose submitters were not called. After a failed write the log accepts
 * nothing more: every pending and every later submitter is called with null.
 */
import { type Command, ENGINE_VERSION, RULE_SETS } from "@perpgate/engine";
import { writerOf } from "@perpgate/engine/reading";
import type { Batch, BatchId, LogSeq, Reading } from "@perpgate/journal";
import type { Machine } from "./machine.js";
import { NotApplied, PendingBatch, type Unanswered } from "./pending-batches.js";
import { encodeRecord, NO_EVIDENCE } from "./record/record.js";
import type { Replica } from "./replica.js";
import { ignore, Submissions } from "./submissions.js";

/** What the sequencer needs of a `Journal`. */
export interface SequencedLog {
  /** Rejects if the log has failed. */
  append(id: BatchId, records: readonly Uint8Array[]): Promise<void>;
  read(from: LogSeq, onBatch: (batch: Batch) => void): Reading;
  readonly stopped: Promise<Error>;
  close(): Promise<void>;
}

/** How the writer introduces itself to the log. */
export interface WriterIdentity {
  /** The gateway's, or the core's. */
  readonly name: string;
  /** Hex; empty without one. */
  readonly receiptKey: string;
  readonly certificate: string;
}

export interface SequencerHooks {
  /** The log or the engine failed. */
  onFailure(error: Error): void;
  /** Commands that go in front of the batch that is published now: a tick, or an ask for time. */
  atPublish(): readonly Command[];
  /** The stamp of the commands that the sequencer itself writes. */
  nowMs(): number;
}

/** The oldest and the newest version of the rules that this release can read. */
export const READABLE_VERSIONS = [RULE_SETS[0]?.version ?? ENGINE_VERSION, ENGINE_VERSION] as const;

export class Sequencer extends Submissions {
  readonly isReplicated = false;
  writer = "";
  private counter = 0;
  private isJoined = false;
  /**
   * Published batches that the log has not delivered, the oldest first. Not a Map: entries deleted
   * from a Map stay reachable in its outgrown hash tables until the next full garbage collection, and
   * a batch holds all of its requests.
   */
  private readonly inFlight: PendingBatch[] = [];
  private reading: Reading | null = null;
  private isClosing = false;
  private onJoin: (error: Error | null) => void = ignore;

  constructor(
    private readonly log: SequencedLog,
    replica: Replica,
    private readonly identity: () => WriterIdentity,
    private readonly hooks: SequencerHooks,
    machine?: Machine,
  ) {
    super(replica, (error) => hooks.onFailure(error), machine);
    void log.stopped.then((error) => this.stop(error));
  }

  /** False before the join, and after a stop. */
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
    const { name, receiptKey, certificate } = this.identity();
    this.writer = this.machine.newWriter();
    const { writer } = this;
    this.send(new PendingBatch(), [
      {
        kind: "WriterJoined",
        stampMs: this.hooks.nowMs(),
        writer,
        name,
        versions: READABLE_VERSIONS,
        receiptKey,
        certificate,
      },
    ]);
    await joined;
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

  protected get unread(): readonly PendingBatch[] {
    return this.inFlight;
  }

  protected refusal(): Unanswered | undefined {
    return this.stopped ? "stopped" : undefined;
  }

  protected publish(): void {
    while (this.isLive) {
      const first = this.hooks.atPublish();
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
    this.counter++;
    this.inFlight.push(batch);
    const id = { writer: this.writer, counter: batch.counter };
    this.log.append(id, batch.records).catch((error: Error) => this.stop(error));
  }

  private onBatch(batch: Batch): void {
    if (this.stopped) return;
    const own = this.ownBatch(batch);
    const isApplied = this.apply(batch, own);
    if (isApplied === undefined) return;
    if (own !== undefined) {
      this.inFlight.shift();
      // Dropped whole: it has no result and never will.
      if (!isApplied) this.onAnswered(own.giveUp("not_executed"));
    }
    const isLive = writerOf(this.replica.engine.state, this.writer) !== undefined;
    if (own?.counter === 0) this.onOwnJoin(isApplied && isLive);
    else if (this.isJoined && !(isLive && (own === undefined || isApplied))) this.onLost();
    if (own !== undefined) this.publish();
  }

  private onOwnJoin(hasJoined: boolean): void {
    if (hasJoined) {
      this.isJoined = true;
      this.onJoin(null);
    } else this.stop(new Error("the log did not accept its only writer"));
  }

  private onLost(): void {
    this.isJoined = false;
    if (!this.isClosing) this.stop(new Error("the log dropped a batch of its only writer"));
  }

  /** The log delivers in order: the next own batch is the oldest in flight. */
  private ownBatch({ id }: Batch): PendingBatch | undefined {
    const oldest = this.inFlight[0];
    return id.writer === this.writer && id.counter === oldest?.counter ? oldest : undefined;
  }

  protected giveUp(why: Unanswered): void {
    for (const batch of this.inFlight.splice(0)) this.onAnswered(batch.giveUp(why));
    this.onAnswered(this.unsent.giveUp(why));
  }

  protected override stop(error: Error): boolean {
    const isFirst = super.stop(error);
    if (isFirst) this.onJoin(error);
    return isFirst;
  }
}
