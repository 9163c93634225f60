/**
 * The submissions to one process, by writer and in order, until they are in the log. A burst is
 * everything submitted within one turn: the log contains all of it or nothing.
 */

import { isDeepStrictEqual } from "node:util";
import type { Command } from "@perpgate/engine";
import type { Batch } from "@perpgate/journal";
import { decodeRecord, type Evidence, encodeRecord } from "@perpgate/venue";
import { mustHold, sameBytes } from "./violation.js";

export interface Submission {
  readonly writer: number;
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

interface Queue {
  readonly submissions: Submission[];
  matched: number;
}

export class Submissions {
  private readonly queues = new Map<number, Queue>();

  add(writer: number, burst: number, command: Command, evidence: Evidence): Submission {
    const record = encodeRecord(command, evidence);
    const submission: Submission = {
      writer,
      burst,
      command,
      evidence,
      record,
      seq: undefined,
      acknowledgedAt: undefined,
      answered: false,
    };
    this.queue(writer).submissions.push(submission);
    return submission;
  }

  /** Matches a batch of the log with its writer's submissions, complete and in order. */
  match({ id, records }: Batch, firstSeq: number): void {
    const queue = this.queue(id.writer);
    const { submissions } = queue;
    const name = `batch ${id.writer}/${id.counter}`;
    for (const [index, record] of records.entries()) {
      const at = queue.matched + index;
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
    queue.matched += records.length;
  }

  /** Forgets all matches, so that the log can be read again from its start. */
  rewind(): void {
    for (const queue of this.queues.values()) {
      queue.matched = 0;
      for (const submission of queue.submissions) submission.seq = undefined;
    }
  }

  /** Every acknowledged submission is in the log at its acknowledged seq. */
  checkAcknowledged(): void {
    for (const { submissions } of this.queues.values()) {
      for (const { acknowledgedAt, seq, command } of submissions) {
        mustHold(
          acknowledgedAt === undefined || acknowledgedAt === seq,
          () => `${command.kind} was acknowledged at ${acknowledgedAt}, the log: ${seq}`,
        );
      }
    }
  }

  /** Submissions that are not in the log. */
  unmatched(): number {
    let count = 0;
    for (const { submissions, matched } of this.queues.values()) {
      count += submissions.length - matched;
    }
    return count;
  }

  unanswered(): number {
    let count = 0;
    for (const { submissions } of this.queues.values()) {
      for (const { answered } of submissions) if (!answered) count += 1;
    }
    return count;
  }

  private queue(writer: number): Queue {
    const known = this.queues.get(writer) ?? { submissions: [], matched: 0 };
    this.queues.set(writer, known);
    return known;
  }
}

function sameEvidence(read: Evidence, { evidence }: Submission): boolean {
  return (
    sameBytes(read.signed, evidence.signed) &&
    sameBytes(read.signature, evidence.signature) &&
    sameBytes(read.publicKey, evidence.publicKey)
  );
}
