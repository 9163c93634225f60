/**
 * The journal's errors. Each has a stable code, a message that says what to do, and its facts as
 * fields.
 */

import type { LogSeq } from "./journal.js";

export class JournalError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** A write or sync failed. Pending batches may or may not survive; every later append rejects. */
export class JournalStopped extends JournalError {
  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super("journal_stopped", `the journal stopped after a failed write or sync: ${reason}`, {
      cause,
    });
  }
}

export class JournalClosed extends JournalError {
  constructor() {
    super("journal_closed", "the journal is closed");
  }
}

export class JournalLocked extends JournalError {
  readonly directory: string;

  constructor(directory: string, holder: string) {
    const by = holder === "" ? "another process" : `process ${holder}`;
    super("journal_locked", `the journal in ${directory} is in use by ${by}`);
    this.directory = directory;
  }
}

/** The log is not what was written: acknowledged batches are missing or changed. */
export class JournalDamaged extends JournalError {
  readonly file: string;
  readonly offset: number;

  constructor(file: string, offset: number, reason: string) {
    super("journal_damaged", `${file} is damaged at offset ${offset}: ${reason}`);
    this.file = file;
    this.offset = offset;
  }
}

/** An index that the log had reached, and the file or store that proves it. */
export interface LogProof extends LogSeq {
  /** Such as "the history" or a file's path. */
  readonly source: string;
}

/** The log ends before an index that another file on disk proves to have been durable. */
export class LogBehind extends JournalError {
  readonly end: LogSeq;
  readonly proofs: readonly LogProof[];
  /** Whether the log can go on without its end: what was derived of it can be built again. */
  readonly isWhole: boolean;

  constructor(directory: string, end: LogSeq, proofs: readonly LogProof[], first: LogSeq) {
    const shown = proofs.map(({ source, batch, record }) => {
      return `${source} shows position ${record} (batch ${batch})`;
    });
    super(
      "log_behind",
      `the log in ${directory} ends at position ${end.record} (batch ${end.batch}), but ` +
        `${shown.join(", ")}: what was acknowledged after position ${end.record} is missing; ` +
        "nothing was changed",
    );
    this.end = end;
    this.proofs = proofs;
    this.isWhole = first.batch === 0;
  }
}

type BatchRule = "batch_empty" | "batch_too_large" | "writer_invalid" | "counter_out_of_range";

/** The batch is invalid and would be refused every time. */
export class BatchRefused extends JournalError {
  constructor(rule: BatchRule, message: string) {
    super(rule, message);
  }
}

/** No batch of this log begins at the requested index. */
export class SeqUnavailable extends JournalError {
  readonly seq: LogSeq;

  constructor(seq: LogSeq, reason: string) {
    const place = `batch ${seq.batch}, record ${seq.record}`;
    super("position_unavailable", `cannot read from ${place}: ${reason}`);
    this.seq = seq;
  }
}

export class PruneRefused extends JournalError {
  constructor(reason: string) {
    super("prune_refused", `nothing was pruned: ${reason}`);
  }
}
