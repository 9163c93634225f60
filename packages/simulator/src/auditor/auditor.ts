/**
 * The auditor of a simulated venue. The simulation reports every submission, every answer and every
 * command shown to an observer; the auditor reads the rest from the disk. Over all processes of the
 * venue it remembers everything that was answered or shown, which must never be lost.
 *
 * At each delivery it reads what a power cut at this moment would leave, so it does not rely on the
 * venue for what is durable. After each recovery it reads the whole log and compares it, and the
 * recovered engine, with what it remembers.
 *
 * Much of it runs inside callbacks of the venue and must not throw there, since the venue would treat
 * that as its own failure: the first violation is stored, and `check` throws it later.
 */

import { audit, type Command, decodeEvents, type Engine } from "@perpgate/engine";
import type { Batch, CutTail, LogSeq } from "@perpgate/journal";
import type { FakeDisk } from "@perpgate/journal/testing";
import type { Applied, Evidence } from "@perpgate/venue";
import { batchesUpTo, durableBatches } from "./durable-log.js";
import { OrderLedger } from "./order-ledger.js";
import { type AuditedSubmission, AuditedSubmissions } from "./submissions.js";
import { stateHashOf, Transcript, type TranscriptEntry } from "./transcript.js";
import { mustHold, sameBytes } from "./violation.js";

/** A venue that has just recovered, before it accepts commands. */
interface Recovered {
  readonly engine: Engine;
  readonly first: LogSeq;
  readonly end: LogSeq;
  /** Incomplete commits that recovery reports. */
  readonly cut: readonly CutTail[];
}

export class Auditor {
  /** The durable log, as far as it was read. */
  transcript = new Transcript();
  readonly orders = new OrderLedger();
  readonly counts = { recoveries: 0, deliveries: 0, acknowledged: 0, lost: 0 };
  private submissions = new AuditedSubmissions();
  /** The highest seq that was answered or shown. */
  private promised = 0;
  /** Batches in the log when the current process started. */
  private batchesBefore = 0;
  /** Whether a write of the log was cut short since the last recovery. */
  private mayBeTorn = false;
  /** How much was durable when the log of the current process failed. */
  private durableAtFailure: number | undefined;
  /** Seq last shown. */
  private lastShown: number | undefined;
  /** Batches that began a commit, as far as is known; see `lastCommitBefore`. */
  private readonly commits: number[] = [0];
  private violation: { readonly reason: unknown } | undefined;

  constructor(
    private readonly disk: FakeDisk,
    private readonly directory: string,
  ) {}

  submitted(burst: number, command: Command, evidence: Evidence): AuditedSubmission {
    this.orders.sent(command);
    return this.submissions.add(burst, command, evidence);
  }

  /** A submitter gets its answer: its command as applied, or null because the venue has stopped. */
  answered(submission: AuditedSubmission, applied: Applied | null): void {
    this.guard(() => {
      const { command } = submission;
      mustHold(!submission.answered, () => `${command.kind} was answered twice`);
      submission.answered = true;
      if (applied === null) return;
      const entry = this.durableEntry(applied, "acknowledged");
      mustHold(submission.seq === entry.seq, () => {
        return `${command.kind} is at ${submission.seq}, acknowledged at ${entry.seq}`;
      });
      submission.acknowledgedAt = entry.seq;
      this.counts.acknowledged += 1;
      this.orders.answered(command, decodeEvents(applied.events.words, applied.events.length));
    });
  }

  /** The observer is shown a command, in a replay as well as live. */
  shown(applied: Applied): void {
    this.guard(() => {
      const last = this.lastShown;
      mustHold(
        last === undefined || applied.seq === last + 1,
        () => `seq ${applied.seq} was shown after ${last}`,
      );
      this.lastShown = applied.seq;
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

  /** The process has ended. Its unanswered commands will never be answered. */
  processEnded(): void {
    this.lastShown = undefined;
    this.durableAtFailure = undefined;
  }

  /** Compares the whole log with promises and submissions, and the engine with the log. */
  recovered(venue: Recovered): void {
    this.check();
    const { first, end, cut } = venue;
    const found = new Transcript();
    const kept = this.transcript;
    this.submissions.rewind();
    // Pruned batches are taken from memory.
    for (const batch of kept.batches.slice(0, first.batch)) this.take(found, batch);
    for (const batch of batchesUpTo(this.disk, this.directory, first, end.batch)) {
      this.take(found, batch);
    }
    const count = found.entries.length;
    mustHold(count >= this.promised, () => `${this.promised} promised, ${count} found`);
    for (const entry of kept.entries.slice(0, this.promised)) {
      mustBeSame(entry, found.entries[entry.seq - 1]);
    }
    mustHold(cut.length === 0 || this.mayBeTorn, () => `cut from an intact log: ${cut[0]?.file}`);
    this.submissions.checkAcknowledged();
    this.checkEngine(venue.engine, found);
    this.counts.lost += this.submissions.unmatched();
    this.counts.recoveries += 1;
    this.transcript = found;
    this.submissions = new AuditedSubmissions();
    this.batchesBefore = found.end.batch;
    this.mayBeTorn = false;
    // Everything found counts as shown: recovery made it durable before it could be read.
    this.promised = count;
    this.commits.push(found.end.batch);
    this.check();
  }

  /** Every order was executed once or refused, now that every client has its answers. */
  settled(): void {
    this.orders.checkSettled(this.transcript.executions);
    mustHold(this.submissions.unanswered() === 0, () => "a command never got an answer");
  }

  /** Nothing is in flight in a running venue: every command was answered, nothing is left over. */
  idle({ seq }: Engine): void {
    this.check();
    mustHold(this.submissions.unanswered() === 0, () => "the venue left a command unanswered");
    const durable = this.transcript.entries.length;
    mustHold(seq === durable, () => `the engine is at ${seq}, the log at ${durable}`);
  }

  /** The engine of a running venue against a replay of its log. */
  checkEngine(engine: Engine, transcript = this.transcript): void {
    const replayed = transcript.stateHash();
    const hash = stateHashOf(engine);
    mustHold(hash === replayed, () => `state ${hash}, but a replay of the log gives ${replayed}`);
    const faults = audit(engine);
    mustHold(faults.length === 0, () => faults.join("; "));
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

  private durableEntry(applied: Applied, verb: string): TranscriptEntry {
    const { seq } = applied;
    if (seq > this.transcript.entries.length) this.lookAtDisk();
    const entry = this.transcript.entries[seq - 1];
    mustHold(entry !== undefined, () => `seq ${seq} was ${verb} and is not durable`);
    const bound = this.durableAtFailure ?? seq;
    mustHold(seq <= bound, () => `seq ${seq} was ${verb} after the log failed`);
    mustHold(
      applied.timeMs === entry.timeMs && sameBytes(applied.events.bytes(), entry.words),
      () => `seq ${seq} was ${verb} differently from the log`,
    );
    this.promised = Math.max(this.promised, seq);
    return entry;
  }

  private lookAtDisk(): void {
    const { transcript } = this;
    const { end } = transcript;
    const batches = durableBatches(this.disk, this.directory, end);
    for (const batch of batches) this.take(transcript, batch);
    if (batches.length > 0) this.commits.push(end.batch);
  }

  /** Each batch that the current process wrote must equal its submissions. */
  private take(transcript: Transcript, batch: Batch): void {
    const firstSeq = transcript.entries.length + 1;
    const isNew = transcript.append(batch).length > 0;
    if (isNew && batch.seq.batch >= this.batchesBefore) {
      this.submissions.match(batch, firstSeq);
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

function mustBeSame(promised: TranscriptEntry, found: TranscriptEntry | undefined): void {
  const { seq } = promised;
  mustHold(found !== undefined, () => `seq ${seq} was promised and is gone`);
  mustHold(sameBytes(promised.record, found.record), () => `the record at ${seq} changed`);
  mustHold(
    promised.timeMs === found.timeMs && sameBytes(promised.words, found.words),
    () => `seq ${seq} was answered differently from its replay`,
  );
}
