/**
 * The auditor of a simulated venue. It is told what was handed in, what was answered and what an
 * observer was shown, and looks at the disk itself for the rest. It keeps, over all lives of the
 * venue, what may never be lost: everything that anybody was told.
 *
 * At the instant of each delivery it reads what a power cut would leave, so "durable" is never
 * taken on trust. After each recovery it reads the whole log and compares it, and the recovered
 * engines, with what it kept.
 *
 * Much of it runs inside callbacks of the venue. There it throws nothing, since the venue would
 * treat that as a failure of its own: the first violation is kept, and `check` throws it outside.
 */

import { audit, type Command, decodeEvents, type Engine } from "@perpgate/engine";
import type { Batch, CutTail, LogSeq } from "@perpgate/journal";
import type { FakeDisk } from "@perpgate/journal/testing";
import type { Applied, Evidence } from "@perpgate/venue";
import { batchesUpTo, durableBatches } from "./durable-log.js";
import { OrderLedger } from "./order-ledger.js";
import { type Submission, Submissions } from "./submissions.js";
import { type Entry, stateHashOf, Transcript } from "./transcript.js";
import { mustHold, sameBytes } from "./violation.js";

/** A venue that has just recovered, before it takes anything. */
export interface Recovered {
  readonly engines: readonly Engine[];
  readonly first: LogSeq;
  readonly end: LogSeq;
  /** What recovery says that a crash had left in part. */
  readonly cut: readonly CutTail[];
}

export class Auditor {
  /** What is durable, as far as it was looked at. */
  transcript = new Transcript();
  readonly orders = new OrderLedger();
  readonly counts = { recoveries: 0, deliveries: 0, acknowledged: 0, lost: 0 };
  private submissions = new Submissions();
  /** The highest position that anybody was told or shown. */
  private promised = 0;
  /** Batches in the log when the present process began. */
  private batchesBefore = 0;
  /** Whether a write of the log was cut short since the last recovery. */
  private mayBeTorn = false;
  /** How much was durable when the log failed under the present process. */
  private durableAtFailure: number | undefined;
  /** Position last shown, by observer. */
  private readonly lastShown = new Map<number, number>();
  /** Batches that began a commit, as far as is known; see `lastCommitBefore`. */
  private readonly commits: number[] = [0];
  private violation: { readonly reason: unknown } | undefined;

  constructor(
    private readonly disk: FakeDisk,
    private readonly directory: string,
  ) {}

  submitted(writer: number, burst: number, command: Command, evidence: Evidence): Submission {
    this.orders.sent(command);
    return this.submissions.add(writer, burst, command, evidence);
  }

  /** A submitter hears: its command as applied, or null because the venue has stopped. */
  answered(submission: Submission, applied: Applied | null): void {
    this.guard(() => {
      const { command } = submission;
      mustHold(!submission.answered, () => `${command.kind} was answered twice`);
      submission.answered = true;
      if (applied === null) return;
      const entry = this.durableEntry(applied, "acknowledged");
      mustHold(submission.position === entry.position, () => {
        return `${command.kind} is at ${submission.position}, acknowledged at ${entry.position}`;
      });
      submission.acknowledgedAt = entry.position;
      this.counts.acknowledged += 1;
      this.orders.answered(command, decodeEvents(applied.events.words, applied.events.length));
    });
  }

  /** An observer is shown a command, in a replay as well as live. */
  shown(observer: number, applied: Applied): void {
    this.guard(() => {
      const last = this.lastShown.get(observer);
      mustHold(
        last === undefined || applied.seq === last + 1,
        () => `position ${applied.seq} was shown after ${last}`,
      );
      this.lastShown.set(observer, applied.seq);
      this.durableEntry(applied, "shown");
      this.counts.deliveries += 1;
    });
  }

  /** A write or sync of the log has just failed. */
  logFailed(): void {
    this.mayBeTorn = true;
    this.guard(() => {
      this.lookAtDisk();
      this.durableAtFailure ??= this.transcript.entries.length;
    });
  }

  /** The process is gone. What it did not answer, it will never answer. */
  processEnded(): void {
    this.lastShown.clear();
    this.durableAtFailure = undefined;
  }

  /** The whole log against what was promised and handed in, and the engines against the log. */
  recovered(venue: Recovered): void {
    this.check();
    const { first, end, cut } = venue;
    const found = new Transcript();
    const kept = this.transcript;
    this.submissions.rewind();
    // What was pruned is taken from memory.
    for (const batch of kept.batches.slice(0, first.batch)) this.take(found, batch);
    for (const batch of batchesUpTo(this.disk, this.directory, first, end.batch)) {
      this.take(found, batch);
    }
    const positions = found.entries.length;
    mustHold(positions >= this.promised, () => `${this.promised} promised, ${positions} found`);
    for (const entry of kept.entries.slice(0, this.promised)) {
      mustBeSame(entry, found.entries[entry.position - 1]);
    }
    mustHold(cut.length === 0 || this.mayBeTorn, () => `cut from an intact log: ${cut[0]?.file}`);
    this.submissions.checkAcknowledged();
    this.checkEngines(venue.engines, found);
    this.counts.lost += this.submissions.unmatched();
    this.counts.recoveries += 1;
    this.transcript = found;
    this.submissions = new Submissions();
    this.batchesBefore = found.end.batch;
    this.mayBeTorn = false;
    // Found is shown: recovery made it durable before anybody could read it.
    this.promised = positions;
    this.commits.push(found.end.batch);
    this.check();
  }

  /** Every order was executed once or refused, now that every client has its answers. */
  settled(): void {
    this.orders.checkSettled(this.transcript.executions);
    mustHold(this.submissions.unanswered() === 0, () => "a command never got an answer");
  }

  /** Nothing is under way in a running venue: everybody was answered, nothing is left over. */
  idle(engines: readonly Engine[]): void {
    this.check();
    mustHold(this.submissions.unanswered() === 0, () => "the venue left a command unanswered");
    for (const { seq: position } of engines) {
      const durable = this.transcript.entries.length;
      mustHold(position === durable, () => `an engine is at ${position}, the log at ${durable}`);
    }
  }

  /** The engines of a running venue against a replay of its log. */
  checkEngines(engines: readonly Engine[], transcript = this.transcript): void {
    const replayed = transcript.stateHash();
    for (const engine of engines) {
      const hash = stateHashOf(engine);
      mustHold(hash === replayed, () => `state ${hash}, but a replay of the log gives ${replayed}`);
      const faults = audit(engine);
      mustHold(faults.length === 0, () => faults.join("; "));
    }
  }

  /**
   * No commit that ended at `batch` began before this one. Damage within the last commit cannot
   * be told from a torn write, so it is the bound on what damage may cut unnoticed.
   */
  lastCommitBefore(batch: number): number {
    return this.commits.reduce((best, each) => (each < batch && each > best ? each : best), 0);
  }

  /** Throws the first violation, if there was one. */
  check(): void {
    if (this.violation !== undefined) throw this.violation.reason;
  }

  private durableEntry(applied: Applied, verb: string): Entry {
    const { seq: position } = applied;
    if (position > this.transcript.entries.length) this.lookAtDisk();
    const entry = this.transcript.entries[position - 1];
    mustHold(entry !== undefined, () => `position ${position} was ${verb} and is not durable`);
    const bound = this.durableAtFailure ?? position;
    mustHold(position <= bound, () => `position ${position} was ${verb} after the log failed`);
    mustHold(
      applied.timeMs === entry.timeMs && sameBytes(applied.events.bytes(), entry.words),
      () => `position ${position} was ${verb} otherwise than the log has it`,
    );
    this.promised = Math.max(this.promised, position);
    return entry;
  }

  private lookAtDisk(): void {
    const { transcript } = this;
    const { end } = transcript;
    const batches = durableBatches(this.disk, this.directory, end);
    for (const batch of batches) this.take(transcript, batch);
    if (batches.length > 0) this.commits.push(end.batch);
  }

  /** Of the batches that the present process wrote, each is what it was given. */
  private take(transcript: Transcript, batch: Batch): void {
    const firstPosition = transcript.entries.length + 1;
    const isNew = transcript.append(batch).length > 0;
    if (isNew && batch.seq.batch >= this.batchesBefore) {
      this.submissions.match(batch, firstPosition);
    }
  }

  private guard(checks: () => void): void {
    try {
      checks();
    } catch (reason) {
      this.violation ??= { reason };
    }
  }
}

function mustBeSame(promised: Entry, found: Entry | undefined): void {
  const { position } = promised;
  mustHold(found !== undefined, () => `position ${position} was promised and is gone`);
  mustHold(sameBytes(promised.record, found.record), () => `the record at ${position} changed`);
  mustHold(
    promised.timeMs === found.timeMs && sameBytes(promised.words, found.words),
    () => `position ${position} was answered otherwise than it replays`,
  );
}
