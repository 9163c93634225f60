/**
 * A replica: an engine fed with batches of the log, in order. Batches come in as the journal
 * delivers them, durable; out go the applied commands, to whoever observes. A replica never writes
 * to the log. The venue's own, the checkpoint worker's and the verifier's are this same class.
 */
import { type Command, Engine, type EventLog } from "@perpgate/engine";
import type { Batch, LogSeq } from "@perpgate/journal";
import type { Evidence } from "./record/evidence.js";
import { decodeRecord } from "./record/record.js";
import { HistoryDamaged } from "./venue-errors.js";

/** One command as it was executed. The event log is valid only during the call. */
export interface Applied {
  /** Log position: the command's identity. */
  readonly seq: number;
  readonly timeMs: number;
  readonly command: Command;
  readonly evidence: Evidence;
  readonly events: EventLog;
}

export interface CommandObserver {
  /** Called for every command, in order, before the next one is applied. */
  onCommand(applied: Applied): void;
  /** Called after every batch, a repeated one included, with the log's place behind it. */
  onBatchEnd?(end: LogSeq): void;
}

/** A command that could not be applied: a fault of the program, or a log from the future. */
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

  /** Applies a batch unless it is a repetition; answers whether it was applied. */
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
      // Not the log's fault: the history can be rebuilt from the log.
      if (cause instanceof HistoryDamaged) throw cause;
      throw new ReplayFailed(seq, cause);
    }
  }
}
