/**
 * The sequencer: writes submitted commands to the journal in batches and applies them when the
 * journal delivers them back, durable. Only then are their submitters called, in log order.
 *
 * A crash loses only commands whose submitters were not called. After a failed write the journal
 * accepts nothing more: every pending and every later submitter is called with null.
 */
import type { Command } from "@perpgate/engine";
import type { Batch, Journal, LogSeq, Reading } from "@perpgate/journal";
import { type Evidence, encodeRecord, NO_EVIDENCE } from "./record/record.js";
import type { Applied, Replica } from "./replica.js";

/** Called with the applied command (valid during the call only), or with null if the venue stopped. */
export type Submitter = (applied: Applied | null) => void;

/** As `Submitter`, once for each command of several that were submitted together. */
export type BatchSubmitter = (applied: Applied | null, index: number) => void;

/**
 * A batch is written when it reaches this size at the latest, and no record is larger. So a batch,
 * with its header and its last record, stays below the megabyte that a journal accepts.
 */
const MAX_BATCH_RECORDS = 512;
const MAX_BATCH_BYTES = 256 * 1024;

export class RecordTooLarge extends RangeError {
  override readonly name = "RecordTooLarge";
  constructor(readonly bytes: number) {
    super(`a command takes ${bytes} bytes in the log, at most ${MAX_BATCH_BYTES} are possible`);
  }
}

interface OpenBatch {
  readonly records: Uint8Array[];
  readonly submitters: Submitter[];
  bytes: number;
  /** The batch's number in the log; 0 until it is written. */
  counter: number;
  /** How many submitters have been called. */
  notified: number;
}

export class Sequencer {
  /** Submitted commands whose submitters have not been called. */
  waiting = 0;
  private open: OpenBatch | null = null;
  private counter: number;
  /**
   * Written batches that the journal has not delivered, the oldest first. Not a Map: entries deleted
   * from a Map stay reachable in its outgrown hash tables until the next full garbage collection, and
   * a batch holds all of its requests.
   */
  private inFlight: OpenBatch[] = [];
  private reading: Reading | null = null;
  private stopped = false;

  constructor(
    private readonly journal: Journal,
    private readonly replica: Replica,
    private readonly writer: number,
    /** Called when the log or the engine failed. */
    private readonly onFailure: (error: Error) => void,
  ) {
    this.counter = replica.engine.state.writers.get(writer) ?? -1;
    void journal.stopped.then((error) => this.stop(error));
  }

  get isStopped(): boolean {
    return this.stopped;
  }

  /** Seq of the last command applied. */
  get seq(): number {
    return this.replica.seq;
  }

  /** Applies the log from `from` to its end; resolves then, and goes on with new batches. */
  async start(from: LogSeq): Promise<void> {
    this.reading = this.journal.read(from, (batch) => this.onBatch(batch));
    await this.reading.live;
    this.counter = Math.max(this.counter, this.replica.engine.state.writers.get(this.writer) ?? -1);
  }

  submit(command: Command, evidence: Evidence = NO_EVIDENCE, submitter: Submitter = ignore): void {
    if (this.stopped) {
      submitter(null);
      return;
    }
    const record = encodeRecord(command, evidence);
    if (record.length > MAX_BATCH_BYTES) throw new RecordTooLarge(record.length);
    const batch = this.openBatch();
    this.add(batch, record, submitter);
    this.flushIfFull(batch);
  }

  /**
   * Submits several commands that take consecutive positions within one batch of the log: nothing is
   * applied between them, and a crash keeps all of them or none. The evidence is stored with the first.
   */
  submitTogether(
    commands: readonly Command[],
    evidence: Evidence,
    submitter: BatchSubmitter = ignore,
  ): void {
    if (this.stopped) {
      commands.forEach((_, index) => {
        submitter(null, index);
      });
      return;
    }
    let bytes = 0;
    const records = commands.map((command, index) => {
      const record = encodeRecord(command, index === 0 ? evidence : NO_EVIDENCE);
      bytes += record.length;
      return record;
    });
    if (bytes > MAX_BATCH_BYTES) throw new RecordTooLarge(bytes);
    const { open } = this;
    if (open !== null && open.records.length + records.length > MAX_BATCH_RECORDS) this.flush(open);
    if (open !== null && open.bytes + bytes > MAX_BATCH_BYTES) this.flush(open);
    const batch = this.openBatch();
    records.forEach((record, index) => {
      this.add(batch, record, (applied) => submitter(applied, index));
    });
    this.flushIfFull(batch);
  }

  /** Submits, and resolves with what `take` returns; costs a promise per command. */
  submitted<T>(command: Command, evidence: Evidence, take: (applied: Applied) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.submit(command, evidence, (applied) => {
        if (applied === null) reject(new VenueStopped());
        else resolve(take(applied));
      });
    });
  }

  /** Closes the log after every submitted command was applied. */
  async close(): Promise<void> {
    if (this.open !== null) this.flush(this.open);
    await this.journal.close();
    this.reading?.close();
    this.stop(new VenueStopped());
  }

  /** Stops because another part that must keep up with the log has failed. */
  fail(error: Error): void {
    this.stop(error);
  }

  /** Everything that arrives in this turn of the event loop shares the batch. */
  private openBatch(): OpenBatch {
    if (this.open !== null) return this.open;
    const opened: OpenBatch = { records: [], submitters: [], bytes: 0, counter: 0, notified: 0 };
    this.open = opened;
    queueMicrotask(() => this.flush(opened));
    return opened;
  }

  private add(batch: OpenBatch, record: Uint8Array, submitter: Submitter): void {
    batch.records.push(record);
    batch.submitters.push(submitter);
    batch.bytes += record.length;
    this.waiting++;
  }

  private flushIfFull(batch: OpenBatch): void {
    if (batch.records.length >= MAX_BATCH_RECORDS || batch.bytes >= MAX_BATCH_BYTES) {
      this.flush(batch);
    }
  }

  private flush(batch: OpenBatch): void {
    if (this.open !== batch) return;
    this.open = null;
    this.counter++;
    batch.counter = this.counter;
    this.inFlight.push(batch);
    this.journal
      .append({ writer: this.writer, counter: this.counter }, batch.records)
      .catch((error: Error) => this.stop(error));
  }

  private onBatch(batch: Batch): void {
    if (this.stopped) return;
    const own = this.ownBatch(batch);
    try {
      this.replica.applyBatch(batch, (index, applied) => {
        if (own === undefined) return;
        this.waiting--;
        own.notified = index + 1;
        notify(own.submitters[index]!, applied);
      });
    } catch (error) {
      this.stop(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (own !== undefined) this.inFlight.shift();
  }

  /** The journal delivers in order: the next own batch is the oldest in flight. */
  private ownBatch({ id }: Batch): OpenBatch | undefined {
    const oldest = this.inFlight[0];
    return id.writer === this.writer && id.counter === oldest?.counter ? oldest : undefined;
  }

  private stop(error: Error): void {
    if (this.stopped) return;
    this.stopped = true;
    const batches = [...this.inFlight, ...(this.open === null ? [] : [this.open])];
    this.inFlight = [];
    this.open = null;
    this.waiting = 0;
    for (const batch of batches) {
      // A submitter that was called must not be called again with another result.
      for (const submitter of batch.submitters.slice(batch.notified)) notify(submitter, null);
    }
    if (!(error instanceof VenueStopped)) this.onFailure(error);
  }
}

export class VenueStopped extends Error {
  override readonly name = "VenueStopped";
  constructor() {
    super("the venue has stopped");
  }
}

/** Calls a submitter. If it throws, the log goes on and the error becomes an uncaught exception. */
function notify(submitter: Submitter, applied: Applied | null): void {
  try {
    submitter(applied);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function ignore(): void {}
