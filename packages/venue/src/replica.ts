/**
 * A replica: an engine that applies the log's durable batches in order and passes each applied
 * command to its observers. It never writes to the log. The venue, the checkpoint thread and the
 * verifier use this same class.
 */
import { type Command, Engine, type EventLog, UnknownToRelease } from "@perpgate/engine";
import type { Batch, LogSeq } from "@perpgate/journal";
import { decodeRecord, type Evidence } from "./record/record.js";
import { HistoryDamaged } from "./venue-errors.js";

/** One command as it was executed. The event log is valid only during the call. */
export interface Applied {
  /** Index of the command in the log, from 1: its identity. */
  readonly seq: number;
  readonly timeMs: number;
  readonly command: Command;
  readonly evidence: Evidence;
  readonly events: EventLog;
}

export interface CommandObserver {
  /** Called for every command, in order, before the next one is applied. */
  onCommand(applied: Applied): void;
  /** Called after every batch, also a repeated one, with the position after it. */
  onBatchEnd?(end: LogSeq): void;
}

/** A command that could not be applied: a bug. */
export class ReplayFailed extends Error {
  override readonly name = "ReplayFailed";
  constructor(
    readonly seq: number,
    cause: unknown,
  ) {
    super(`command ${seq} cannot be applied: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
}

export class Replica {
  constructor(
    readonly engine: Engine = new Engine(),
    private readonly observers: readonly CommandObserver[] = [],
  ) {}

  get seq(): number {
    return this.engine.seq;
  }

  /** Applies a batch unless it is a repetition; returns whether it was applied. */
  applyBatch(batch: Batch, onRecord?: (index: number, applied: Applied) => void): boolean {
    const isNew = this.engine.acceptBatch(batch.id.writer, batch.id.counter);
    if (isNew) {
      for (let i = 0; i < batch.records.length; i++) {
        const applied = this.applyRecord(batch.records[i]!);
        onRecord?.(i, applied);
      }
    }
    const end = {
      batch: batch.seq.batch + 1,
      record: batch.seq.record + batch.records.length,
    };
    for (const observer of this.observers) observer.onBatchEnd?.(end);
    return isNew;
  }

  private applyRecord(record: Uint8Array): Applied {
    const { engine } = this;
    const seq = engine.seq + 1;
    try {
      const { command, evidence } = decodeRecord(record);
      const events = engine.apply(command);
      const applied = {
        seq,
        timeMs: engine.state.timeMs,
        command,
        evidence,
        events,
      };
      for (const observer of this.observers) observer.onCommand(applied);
      return applied;
    } catch (cause) {
      // The log is intact: the history can be rebuilt from it.
      if (cause instanceof HistoryDamaged) throw cause;
      // Nor is it a fault of the log that another release wrote it.
      if (cause instanceof UnknownToRelease) throw cause;
      throw new ReplayFailed(seq, cause);
    }
  }
}
