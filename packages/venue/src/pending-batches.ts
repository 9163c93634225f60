/** The sequencer's batches before the log has delivered them: those to publish, and those in flight. */
import type { Applied } from "./replica.js";

/** Why a command has no result. `not_executed`: it has none and never will. */
export type Unanswered = "stopped" | "not_executed" | "outcome_unknown";

/** A submitted command has no result. */
export class NotApplied extends Error {
  override readonly name = "NotApplied";
  constructor(readonly why: Unanswered) {
    super(WHY_NOT[why]);
  }
}

const WHY_NOT: Record<Unanswered, string> = {
  stopped: "the venue has stopped",
  not_executed: "the command was not executed",
  outcome_unknown: "it is not known whether the command was executed",
};

/** Called with the applied command (valid during the call only), or with null and the reason. */
export type Submitter = (applied: Applied | null, why: Unanswered) => void;

/**
 * A batch is published when it reaches this size at the latest, and no record is larger. So a batch,
 * with its header and its last record, stays below the megabyte that a log accepts.
 */
const MAX_BATCH_RECORDS = 512;
export const MAX_OPEN_BATCH_BYTES = 256 * 1024;

export class RecordTooLarge extends RangeError {
  override readonly name = "RecordTooLarge";
  constructor(readonly bytes: number) {
    super(
      `a command takes ${bytes} bytes in the log, at most ${MAX_OPEN_BATCH_BYTES} are possible`,
    );
  }
}

export class PendingBatch {
  readonly records: Uint8Array[] = [];
  readonly submitters: Submitter[] = [];
  /** When each command was submitted; ascending. */
  readonly times: number[] = [];
  bytes = 0;
  /** Its number among the writer's batches, once published. */
  counter = 0;
  /** Its number among all batches of this process, from 1, once published. */
  number = 0;
  /** Records in front that have no submitter. */
  lead = 0;
  /** Submitters that were called, or given up. */
  notified = 0;
  private whenSettled: (() => void)[] = [];

  /** Calls back once every submitter was called; it must not throw. */
  onSettled(callback: () => void): void {
    this.whenSettled.push(callback);
  }

  /** Calls the submitter of the record at `index`; returns how many were called. */
  notify(index: number, applied: Applied): number {
    const place = index - this.lead;
    if (place < this.notified) return 0;
    this.notified = place + 1;
    call(() => this.submitters[place]!(applied, "stopped"));
    this.settle();
    return 1;
  }

  get isEmpty(): boolean {
    return this.records.length === 0;
  }

  /** Answers everything that has no answer; returns how many commands that were. */
  giveUp(why: Unanswered): number {
    const from = this.notified;
    // First: a submitter that was called must not be called again with another result.
    this.notified = this.submitters.length;
    for (const submitter of this.submitters.slice(from)) call(() => submitter(null, why));
    this.settle();
    return this.submitters.length - from;
  }

  /** Before it is published: removes what was submitted before; returns how many commands that were. */
  expireBefore(timeMs: number): number {
    const first = this.times.findIndex((time) => time >= timeMs);
    const expired = first === -1 ? this.times.length : first;
    this.times.splice(0, expired);
    for (const record of this.records.splice(0, expired)) this.bytes -= record.length;
    for (const submitter of this.submitters.splice(0, expired)) {
      call(() => submitter(null, "not_executed"));
    }
    this.settle();
    return expired;
  }

  /** Whether every submitter was called. */
  get isSettled(): boolean {
    return this.notified === this.submitters.length;
  }

  private settle(): void {
    if (this.whenSettled.length === 0 || !this.isSettled) return;
    for (const callback of this.whenSettled.splice(0)) callback();
  }
}

export class UnsentBatches {
  /** The last one is being filled. */
  private batches: PendingBatch[] = [];

  add(record: Uint8Array, submitter: Submitter, nowMs: number): void {
    put(this.openFor(1, record.length), record, submitter, nowMs);
  }

  addTogether(
    records: readonly Uint8Array[],
    bytes: number,
    submitters: readonly Submitter[],
    nowMs: number,
  ): void {
    const batch = this.openFor(records.length, bytes);
    records.forEach((record, index) => {
      put(batch, record, submitters[index]!, nowMs);
    });
  }

  /** Oldest first. */
  all(): readonly PendingBatch[] {
    return this.batches;
  }

  /** The oldest batch, which the caller publishes. */
  take(): PendingBatch | undefined {
    return this.batches.shift();
  }

  /** A batch that was taken, and is in no log: the first to be published. */
  putBack(batch: PendingBatch): void {
    if (!batch.isEmpty) this.batches.unshift(batch);
  }

  /** Whether a batch has as much as it may have, so that waiting for more is of no use. */
  get hasFull(): boolean {
    const { batches } = this;
    if (batches.length > 1) return true;
    const [only] = batches;
    if (only === undefined) return false;
    return only.records.length >= MAX_BATCH_RECORDS || only.bytes >= MAX_OPEN_BATCH_BYTES;
  }

  giveUp(why: Unanswered): number {
    let count = 0;
    for (const batch of this.batches.splice(0)) count += batch.giveUp(why);
    return count;
  }

  /** Gives up what was submitted before; returns how many commands that were. */
  giveUpBefore(timeMs: number): number {
    let count = 0;
    for (const batch of this.batches) {
      count += batch.expireBefore(timeMs);
      // What follows is younger still.
      if (!batch.isEmpty) break;
    }
    this.batches = this.batches.filter((batch) => !batch.isEmpty);
    return count;
  }

  private openFor(records: number, bytes: number): PendingBatch {
    const last = this.batches.at(-1);
    if (
      last !== undefined &&
      last.records.length + records <= MAX_BATCH_RECORDS &&
      (last.bytes + bytes <= MAX_OPEN_BATCH_BYTES || last.records.length === 0)
    ) {
      return last;
    }
    const opened = new PendingBatch();
    this.batches.push(opened);
    return opened;
  }
}

function put(batch: PendingBatch, record: Uint8Array, submitter: Submitter, nowMs: number): void {
  batch.records.push(record);
  batch.submitters.push(submitter);
  batch.times.push(nowMs);
  batch.bytes += record.length;
}

/** If the callback throws, the log goes on and the error becomes an uncaught exception. */
function call(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
