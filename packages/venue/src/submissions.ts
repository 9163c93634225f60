/**
 * Commands that were submitted and are not in the log yet: gathered into batches, published together at the
 * end of a turn of the event loop. What writes the log derives from this.
 */
import type { Command } from "@perpgate/engine";
import type { Batch } from "@perpgate/journal";
import { type Machine, REAL_MACHINE } from "./machine.js";
import {
  MAX_OPEN_BATCH_BYTES,
  NotApplied,
  type PendingBatch,
  RecordTooLarge,
  type Submitter,
  type Unanswered,
  UnsentBatches,
} from "./pending-batches.js";
import { type Evidence, encodeRecord, NO_EVIDENCE } from "./record/record.js";
import type { Applied, Replica } from "./replica.js";

/** As `Submitter`, once for each command of several that were submitted together. */
export type BatchSubmitter = (applied: Applied | null, index: number, why: Unanswered) => void;

export abstract class Submissions {
  /** Submitted commands whose submitters have not been called. */
  waiting = 0;
  /** Own batches that were published. */
  published = 0;
  /** The number of the last of them that the log has delivered. */
  returned = 0;
  protected readonly unsent = new UnsentBatches();
  protected stopped = false;
  private isPublishing = false;

  constructor(
    protected readonly replica: Replica,
    private readonly onFailure: (error: Error) => void,
    protected readonly machine: Machine = REAL_MACHINE,
  ) {}

  /** The id of the own writer; empty before the join. */
  abstract readonly writer: string;
  /** Whether cores lead the log by turns. */
  abstract readonly isReplicated: boolean;
  /** Whether this process may write the log now. */
  abstract readonly isLive: boolean;

  /** Closes the log after every submitted command was applied, or will be by nobody. */
  abstract close(): Promise<void>;

  /** Publishes what may be published now. */
  protected abstract publish(): void;

  /** Why a command is not taken now; undefined if it is. */
  protected abstract refusal(): Unanswered | undefined;

  /** Published batches that the log has not delivered. */
  protected abstract readonly unread: readonly PendingBatch[];

  /** Answers everything that has no answer. */
  protected abstract giveUp(why: Unanswered): void;

  get isStopped(): boolean {
    return this.stopped;
  }

  /** Seq of the last command applied. */
  get seq(): number {
    return this.replica.seq;
  }

  submit(command: Command, evidence: Evidence = NO_EVIDENCE, submitter: Submitter = ignore): void {
    const refusal = this.refusal();
    if (refusal !== undefined) {
      submitter(null, refusal);
      return;
    }
    const record = encodeRecord(command, evidence);
    if (record.length > MAX_OPEN_BATCH_BYTES) throw new RecordTooLarge(record.length);
    this.waiting++;
    this.unsent.add(record, submitter, this.submittedAt());
    this.publishSoon();
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
    const submitters = commands.map(
      (_, index): Submitter =>
        (applied, why) =>
          submitter(applied, index, why),
    );
    const refusal = this.refusal();
    if (refusal !== undefined) {
      for (const each of submitters) each(null, refusal);
      return;
    }
    let bytes = 0;
    const records = commands.map((command, index) => {
      const record = encodeRecord(command, index === 0 ? evidence : NO_EVIDENCE);
      bytes += record.length;
      return record;
    });
    if (bytes > MAX_OPEN_BATCH_BYTES) throw new RecordTooLarge(bytes);
    this.waiting += records.length;
    this.unsent.addTogether(records, bytes, submitters, this.submittedAt());
    this.publishSoon();
  }

  /** Submits, and resolves with what `take` returns; costs a promise per command. */
  submitted<T>(command: Command, evidence: Evidence, take: (applied: Applied) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.submit(command, evidence, (applied, why) => {
        if (applied === null) reject(new NotApplied(why));
        else resolve(take(applied));
      });
    });
  }

  /**
   * Calls back once every command that is submitted by now has its result or was given up: immediately if
   * there is none, never within the call of a submitter otherwise.
   */
  whenSettled(callback: () => void): void {
    const pending = [...this.unread, ...this.unsent.all()].filter(({ isSettled }) => !isSettled);
    let left = pending.length;
    if (left === 0) callback();
    for (const batch of pending) {
      batch.onSettled(() => {
        left--;
        if (left === 0) queueMicrotask(callback);
      });
    }
  }

  /** Publishes at the end of this turn if there is anything to publish. */
  publishSoon(): void {
    if (this.unsent.hasFull) {
      this.publish();
      return;
    }
    if (this.isPublishing) return;
    this.isPublishing = true;
    // Everything that arrives in this turn of the event loop shares the batch.
    queueMicrotask(() => {
      this.isPublishing = false;
      this.publish();
    });
  }

  /** Stops because another part that must keep up with the log has failed. */
  fail(error: Error): void {
    this.stop(error);
  }

  /**
   * Applies a batch that the log delivers and calls the submitters of its commands if it is an own one.
   * Returns whether every replica applies it, undefined after a failure.
   */
  protected apply(batch: Batch, own: PendingBatch | undefined): boolean | undefined {
    // Before it is applied: observers read it at the end of the batch.
    if (own !== undefined) this.returned = own.number;
    try {
      return this.replica.applyBatch(batch, (index, applied) => {
        if (own !== undefined && index >= own.lead) this.onAnswered(own.notify(index, applied));
      });
    } catch (error) {
      this.stop(error instanceof Error ? error : new Error(String(error)));
      return undefined;
    }
  }

  /** Only a replicated log gives commands up by their age. */
  private submittedAt(): number {
    return this.isReplicated ? this.machine.monotonic() : 0;
  }

  /** A method, because submitters may submit: `this.waiting -= f()` reads `waiting` before it calls them. */
  protected onAnswered(count: number): void {
    this.waiting -= count;
  }

  /** Returns whether it had not stopped before. */
  protected stop(error: Error): boolean {
    if (this.stopped) return false;
    this.stopped = true;
    this.giveUp("stopped");
    if (!(error instanceof NotApplied)) this.onFailure(error);
    return true;
  }
}

export function ignore(): void {}
