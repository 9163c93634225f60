/**
 * An index into the log, between two batches: how many batches and how many records precede it.
 * Readers derive it by counting. Writers do not store it, since in a replicated log they cannot
 * know it.
 */
export interface LogSeq {
  readonly batch: number;
  readonly record: number;
}

export const LOG_START: LogSeq = { batch: 0, record: 0 };
