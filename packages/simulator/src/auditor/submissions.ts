/**
 * The submissions to one process, in order, until they are in the log. A burst is everything
 * submitted within one turn: the log contains all of it or nothing. Besides, the process itself
 * writes Genesis, and when it joins and leaves.
 */

import { isDeepStrictEqual } from "node:util";
import type { Command } from "@perpgate/engine";
import type { Batch } from "@perpgate/journal";
import { decodeRecord, type Evidence, encodeRecord } from "@perpgate/venue";
import { mustHold, sameBytes } from "./violation.js";

export interface AuditedSubmission {
  readonly burst: number;
  readonly command: Command;
  readonly evidence: Evidence;
  readonly record: Uint8Array;
  /** Set once it is in the log. */
  seq: number | undefined;
  /** The seq in its submitter's answer. */
  acknowledgedAt: number | undefined;
  /** An answer is given once; a stopped venue's "unknown" is one too. */
  answered: boolean;
}

/** What the process writes without a submission. */
const OWN: readonly string[] = ["Genesis", "WriterJoined", "WriterLeft"];

export class AuditedSubmissions {
  private readonly submissions: AuditedSubmission[] = [];
  private matched = 0;

  add(burst: number, command: Command, evidence: Evidence): AuditedSubmission {
    const record = encodeRecord(command, evidence);
    const submission: AuditedSubmission = {
      burst,
      command,
      evidence,
      record,
      seq: undefined,
      acknowledgedAt: undefined,
      answered: false,
    };
    this.submissions.push(submission);
    return submission;
  }

  /** Matches a batch of the log with the submissions, complete and in order. */
  match({ id, records: all }: Batch, firstSeq: number): void {
    const { submissions } = this;
    const name = `batch ${id.writer}/${id.counter}`;
    const records = all.filter((record) => !OWN.includes(decodeRecord(record).command.kind));
    mustHold(
      records.length === all.length || records.length === 0,
      () => `${name} mixes submissions with what the process writes`,
    );
    for (const [index, record] of records.entries()) {
      const at = this.matched + index;
      const submission = submissions[at];
      mustHold(
        submission !== undefined && sameBytes(submission.record, record),
        () => `record ${index} of ${name} is not what was submitted`,
      );
      const { command, evidence } = decodeRecord(record);
      mustHold(
        isDeepStrictEqual(command, submission.command) && sameEvidence(evidence, submission),
        () => `record ${index} of ${name} decodes differently from its submission`,
      );
      const begins = submissions[at - 1]?.burst !== submission.burst;
      const ends = submissions[at + 1]?.burst !== submission.burst;
      mustHold(index !== 0 || begins, () => `${name} begins in the middle of a burst`);
      mustHold(index !== records.length - 1 || ends, () => `${name} ends in the middle of a burst`);
      submission.seq = firstSeq + index;
    }
    this.matched += records.length;
  }

  /** Forgets all matches, so that the log can be read again from its start. */
  rewind(): void {
    this.matched = 0;
    for (const submission of this.submissions) submission.seq = undefined;
  }

  /** Every acknowledged submission is in the log at its acknowledged seq. */
  checkAcknowledged(): void {
    for (const { acknowledgedAt, seq, command } of this.submissions) {
      mustHold(
        acknowledgedAt === undefined || acknowledgedAt === seq,
        () => `${command.kind} was acknowledged at ${acknowledgedAt}, the log: ${seq}`,
      );
    }
  }

  /** Submissions that are not in the log. */
  unmatched(): number {
    return this.submissions.length - this.matched;
  }

  unanswered(): number {
    return this.submissions.filter(({ answered }) => !answered).length;
  }
}

function sameEvidence(read: Evidence, { evidence }: AuditedSubmission): boolean {
  return (
    sameBytes(read.signed, evidence.signed) &&
    sameBytes(read.signature, evidence.signature) &&
    sameBytes(read.publicKey, evidence.publicKey)
  );
}
