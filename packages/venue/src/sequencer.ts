/**
 * The sequencer: commands come in, go to the journal in batches, and are applied when the journal
 * delivers them back, durable. Only then does whoever submitted one hear of it, in log order.
 *
 * A crash here loses only what nobody was told. After a failed write the journal stops for good:
 * every waiting submitter hears `stopped`, and so does everyone who comes later.
 */
import type { Command } from "@perpgate/engine";
import type { Batch, Journal, LogSeq, Reading } from "@perpgate/journal";
import { type Evidence, NO_EVIDENCE } from "./record/evidence.js";
import { encodeRecord } from "./record/record.js";
import type { Applied, Replica } from "./replica.js";

/** Hears how a submitted command ended: applied (valid during the call only), or null if stopped. */
export type Submitter = (applied: Applied | null) => void;

/**
 * A batch is handed on at the latest at this size, and a record is at most as large, so that no
 * batch outgrows the megabyte (batch header and one last record included) that a journal takes.
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
  /** By which the log knows it; 0 until it is handed on. */
  counter: number;
  /** How many of the submitters have heard. */
  answered: number;
}

export class Sequencer {
  /** Commands handed in and not yet answered. */
  waiting = 0;
  private open: OpenBatch | null = null;
  private counter: number;
  /**
   * Batches in the log's hands, the oldest first. No map: what a map has let go of lives on in the
   * tables that it has outgrown until the next full collection, and with a batch all of its requests.
   */
  private inFlight: OpenBatch[] = [];
  private reading: Reading | null = null;
  private stopped = false;

  constructor(
    private readonly journal: Journal,
    private readonly replica: Replica,
    private readonly writer: number,
    /** Called when the log or the engine failed: nothing may be answered any more. */
    private readonly onFailure: (error: Error) => void,
  ) {
    this.counter = replica.engine.state.writers.get(writer) ?? -1;
    void journal.stopped.then((error) => this.stop(error));
  }

  get isStopped(): boolean {
    return this.stopped;
  }

  /** Log position of the last command applied. */
  get seq(): number {
    return this.replica.seq;
  }

  /** Applies what the log holds from there on, then goes on with what it will hold. */
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
    let batch = this.open;
    if (batch === null) {
      const opened: OpenBatch = { records: [], submitters: [], bytes: 0, counter: 0, answered: 0 };
      batch = opened;
      this.open = opened;
      // Everything that arrives in this turn of the event loop shares the batch.
      queueMicrotask(() => this.flush(opened));
    }
    batch.records.push(record);
    batch.submitters.push(submitter);
    batch.bytes += record.length;
    this.waiting++;
    if (batch.records.length >= MAX_BATCH_RECORDS || batch.bytes >= MAX_BATCH_BYTES) {
      this.flush(batch);
    }
  }

  /** Resolves with the outcome; for callers that are not in a hurry. */
  submitted<T>(command: Command, evidence: Evidence, take: (applied: Applied) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.submit(command, evidence, (applied) => {
        if (applied === null) reject(new VenueStopped());
        else resolve(take(applied));
      });
    });
  }

  /** Lets go of the log once everything handed in was answered. */
  async close(): Promise<void> {
    if (this.open !== null) this.flush(this.open);
    await this.journal.close();
    this.reading?.close();
    this.stop(new VenueStopped());
  }

  /** Stops for a reason from outside: something that must keep up with the log has failed. */
  fail(error: Error): void {
    this.stop(error);
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
        own.answered = index + 1;
        answer(own.submitters[index]!, applied);
      });
    } catch (error) {
      this.stop(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (own !== undefined) this.inFlight.shift();
  }

  /** The log answers in order: of its own batches the next is the oldest. */
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
      // Those who have heard already must not hear a second, different answer.
      for (const submitter of batch.submitters.slice(batch.answered)) answer(submitter, null);
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

/** A submitter that throws is a fault of its own: the log goes on, the process hears of it. */
function answer(submitter: Submitter, applied: Applied | null): void {
  try {
    submitter(applied);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function ignore(): void {}
