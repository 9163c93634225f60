/**
 * Takes snapshots of the replica that makes the store's rows, after enough commands or enough time: audits the
 * state, copies it, and has the thread that writes the store write the copy once the rows of everything in it
 * are on disk. So no snapshot is ever ahead of the store, and a restart replays the log's tail alone.
 */
import { audit } from "@perpgate/engine";
import type { LogSeq } from "@perpgate/journal";
import type { Held } from "../history/history-environment.js";
import type { WrittenHistory } from "../history/written-history.js";
import type { DataFolder } from "../recovery/data-folder.js";
import { encodeReplicaState, type ReplicaState } from "../recovery/replica-state.js";
import type { Applied, CommandObserver } from "../replica.js";
import { ReservesCounter, type ReservesNotice } from "../reserves/counter.js";
import type { ReservesKey } from "../reserves/reserves-key.js";
import type { CheckpointOptions } from "../venue-options.js";
import type { StateCheckpoint } from "./checkpoint-file.js";
import type { SnapshotFiles, SnapshotOutcome, TakenSnapshot } from "./snapshot-writer.js";

export interface SnapshotTerms {
  readonly folder: DataFolder;
  readonly options: CheckpointOptions;
  /** Key of the salts; undefined: what the venue owes is not counted. */
  readonly reservesKey: ReservesKey | undefined;
  /** What was owed before is not counted. */
  readonly countsFromMs: number;
}

export type SnapshotNotice =
  | {
      readonly kind: "checkpoint";
      readonly checkpoint: StateCheckpoint;
      readonly bytes: number;
      readonly elapsedMs: number;
    }
  | Extract<SnapshotOutcome, { kind: "unwritten" }>
  | ReservesNotice;

interface TakerEvents {
  onNotice(notice: SnapshotNotice): void;
  onFailure(error: Error): void;
}

/** The replica's state violates an invariant. */
class AuditFailed extends Error {
  override readonly name = "AuditFailed";
  constructor(seq: number, faults: readonly string[]) {
    super(`the audit at position ${seq} found: ${faults.join("; ")}`);
  }
}

const TIMER_MS = 1_000;

export function snapshotFilesOf({ folder, options }: SnapshotTerms): SnapshotFiles {
  const { journal, checkpoints, archived } = folder;
  return { journal, checkpoints, archived, keep: options.keep };
}

export class SnapshotTaker implements CommandObserver {
  private readonly options: CheckpointOptions;
  private readonly counter: ReservesCounter | undefined;
  private snapshotAt: number;
  private takenAtMs = 0;
  private timer: NodeJS.Timeout | undefined;
  /** Until its rows are on disk. */
  private waiting: TakenSnapshot | undefined;
  private isWriting = false;

  /** `state` is that after `place`. */
  constructor(
    private readonly state: ReplicaState,
    private place: LogSeq,
    private readonly history: WrittenHistory,
    { folder, options, reservesKey, countsFromMs }: SnapshotTerms,
    private readonly events: TakerEvents,
  ) {
    this.options = options;
    this.snapshotAt = state.engine.seq;
    if (reservesKey === undefined) return;
    const trees = { folder: folder.reserves, key: reservesKey };
    const report = (notice: ReservesNotice): void => events.onNotice(notice);
    this.counter = new ReservesCounter(state, trees, report, countsFromMs);
  }

  /** From now on it takes them. */
  start(): void {
    this.takenAtMs = performance.now();
    this.timer = setInterval(() => this.look(), Math.min(TIMER_MS, this.options.everyMs));
    this.timer.unref();
    this.look();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  onCommand(applied: Applied): void {
    this.counter?.onCommand(applied);
  }

  onBatchEnd(end: LogSeq): void {
    this.place = end;
    if (this.commandsSince >= this.options.everyCommands) this.look();
  }

  /** The store has the rows up to there. */
  onDurable({ batch }: Held): void {
    const { waiting } = this;
    if (waiting === undefined || batch < waiting.place.batch) return;
    this.waiting = undefined;
    this.history.writeSnapshot(waiting);
  }

  private get commandsSince(): number {
    return this.state.engine.seq - this.snapshotAt;
  }

  private look(): void {
    const { commandsSince } = this;
    if (this.timer === undefined || this.isWriting || commandsSince === 0) return;
    const isTime = performance.now() - this.takenAtMs >= this.options.everyMs;
    if (commandsSince < this.options.everyCommands && !isTime) return;
    try {
      this.take();
    } catch (error) {
      this.stop();
      this.events.onFailure(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private take(): void {
    const startedAtMs = performance.now();
    const { history, state, place } = this;
    this.isWriting = true;
    this.takenAtMs = startedAtMs;
    this.snapshotAt = state.engine.seq;
    // First: readers have the rows that are made before it takes its time. A failure is reported by the history.
    void history.flush().catch(() => undefined);
    const faults = audit(state.engine);
    if (faults.length > 0) throw new AuditFailed(state.engine.seq, faults);
    const { number, parentHash } = state.blocks.open();
    const isFirst = number === 1;
    const checkpoint = {
      position: state.engine.seq,
      block: isFirst ? 0 : number - 1,
      blockHash: isFirst ? "" : parentHash.toString("hex"),
    };
    // Copies in memory of their own, which move to the thread that writes.
    const pieces = encodeReplicaState(state, state.engine.snapshot());
    const body = pieces.map((piece) => new Uint8Array(piece));
    this.waiting = { place, checkpoint, body };
    history.onSnapshotWritten = (outcome) => this.onWritten(outcome, startedAtMs);
    this.onDurable(history.durable);
  }

  private onWritten(outcome: SnapshotOutcome, startedAtMs: number): void {
    this.isWriting = false;
    const elapsedMs = performance.now() - startedAtMs;
    const { onNotice } = this.events;
    onNotice(outcome.kind === "unwritten" ? outcome : { ...outcome, elapsedMs });
  }
}
