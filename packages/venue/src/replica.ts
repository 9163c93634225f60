/**
 * A replica: an engine that applies the log's durable batches in order and passes each applied
 * command to its observers. It never writes to the log. The venue, the store's thread and the
 * verifier use this same class.
 */
import { type Command, Engine, type EventLog, UnknownToRelease } from "@perpgate/engine";
import { epochOf, mayLead, writerOf } from "@perpgate/engine/reading";
import type { Batch, LogSeq } from "@perpgate/journal";
import { decodeRecord, type Evidence, type LogRecord, RecordUnreadable } from "./record/record.js";
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

/** What answers are made of: of a copy, that of the first. */
export type KeptApplied = Pick<Applied, "seq" | "timeMs" | "events">;

export interface CommandObserver {
  /** Called for every command, in order, before the next one is applied. */
  onCommand(applied: Applied): void;
  /** Called after every batch, also a repeated one, with the position after it. */
  onBatchEnd?(end: LogSeq, batch: Batch): void;
  /** Another core leads. */
  onLeadLost?(): void;
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
  /** Batches that were not applied, and why the last one was not. */
  drops = 0;
  dropped: string | null = null;
  /** The records of the batch that is applied. */
  private readonly decoded: LogRecord[] = [];
  private readonly commands: Command[] = [];

  constructor(
    readonly engine: Engine = new Engine(),
    private readonly observers: readonly CommandObserver[] = [],
  ) {}

  get seq(): number {
    return this.engine.seq;
  }

  /**
   * Applies a batch, or drops it whole: one that is unfit, that has a record which no release writes, or
   * that the engine does not accept of its writer. Returns whether it was applied.
   */
  applyBatch(batch: Batch, onRecord?: (index: number, applied: Applied) => void): boolean {
    const dropped = this.dropReason(batch);
    this.dropped = dropped ?? this.dropped;
    const { decoded } = this;
    if (dropped === null) {
      for (let i = 0; i < decoded.length; i++) {
        const applied = this.applyRecord(decoded[i]!);
        onRecord?.(i, applied);
      }
    } else {
      this.drops++;
    }
    decoded.length = 0;
    for (const observer of this.observers) observer.onBatchEnd?.(batch.end, batch);
    return dropped === null;
  }

  private dropReason({ id, records, isUnfit }: Batch): string | null {
    const { decoded, commands, engine } = this;
    decoded.length = 0;
    commands.length = 0;
    if (isUnfit === true) return "unfit";
    // Before its records are read: nobody may stop the replicas with a record of a later release.
    const isWriter = writerOf(engine.state, id.writer) !== undefined;
    const mayClaim = mayLead(engine.state) && id.counter === epochOf(engine.state) + 1;
    if (id.counter > 0 && !isWriter && !(mayClaim && isClaim(records))) return "writer_not_live";
    for (const record of records) {
      const read = readRecord(record);
      if (read === undefined) return "malformed";
      decoded.push(read);
      commands.push(read.command);
    }
    return engine.acceptBatch(id.writer, id.counter, commands);
  }

  private applyRecord({ command, evidence }: LogRecord): Applied {
    const { engine } = this;
    const seq = engine.seq + 1;
    try {
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

/** Whether these records claim to lead. A claim is written so that every release of a cluster reads it. */
function isClaim(records: readonly Uint8Array[]): boolean {
  const [first] = records;
  if (first === undefined || records.length > 1) return false;
  try {
    return decodeRecord(first).command.kind === "CoreLeads";
  } catch (error) {
    if (error instanceof RecordUnreadable || error instanceof UnknownToRelease) return false;
    throw error;
  }
}

/** Undefined for bytes that no release writes. */
function readRecord(record: Uint8Array): LogRecord | undefined {
  try {
    return decodeRecord(record);
  } catch (error) {
    if (error instanceof RecordUnreadable) return undefined;
    throw error;
  }
}
