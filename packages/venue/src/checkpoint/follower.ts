/**
 * The second replica: follows the log's files, audits itself, and writes snapshots and checkpoints.
 * It blocks on the disk, so it runs in its own thread. It reads only up to the batch that the history
 * has on disk: no snapshot is ever ahead of the history, and a restart replays the log's tail alone.
 *
 * A crash while a snapshot is written leaves the previous ones; a crash between snapshot and
 * checkpoint leaves a snapshot without a checkpoint, which is harmless.
 */
import { createHash } from "node:crypto";
import { audit, STATE_FORMAT } from "@perpgate/engine";
import { FileSnapshots, LOG_START, LogReader, nodeDisk, type Snapshots } from "@perpgate/journal";
import type { SealedBlock } from "../blocks/block-header.js";
import { newestState } from "../recovery/newest-state.js";
import {
  encodeReplicaState,
  newReplicaState,
  observe,
  type ReplicaState,
} from "../recovery/replica-state.js";
import { Replica } from "../replica.js";
import { ReservesCounter, type ReservesNotice } from "../reserves/counter.js";
import { type Checkpoint, CheckpointFile } from "./checkpoint-file.js";
import type { CheckpointThreadData } from "./checkpointer.js";

interface Taken {
  readonly checkpoint: Checkpoint;
  readonly bytes: number;
}

/** The replica's state violates an invariant. */
export class AuditFailed extends Error {
  override readonly name = "AuditFailed";
  constructor(seq: number, faults: readonly string[]) {
    super(`the audit at position ${seq} found: ${faults.join("; ")}`);
  }
}

/** Batches between two readings of the clock. */
const CLOCK_EVERY = 4;

export class Follower {
  private readonly snapshots: Snapshots;
  private readonly checkpoints: CheckpointFile;
  private readonly state: ReplicaState;
  private readonly replica: Replica;
  private readonly reader: LogReader;
  private lastBlock: SealedBlock | undefined;
  private snapshotAt: number;

  constructor(
    { folder, logId, batch, reservesKey }: CheckpointThreadData,
    onReserves: (notice: ReservesNotice) => void = () => undefined,
  ) {
    this.snapshots = new FileSnapshots(nodeDisk, folder.journal, logId);
    this.checkpoints = new CheckpointFile(folder.checkpoints);
    const newest = newestState(this.snapshots, batch);
    this.state = newest?.state ?? newReplicaState();
    this.snapshotAt = this.state.engine.seq;
    this.reader = new LogReader(nodeDisk, folder.journal, newest?.from ?? LOG_START);
    const counter =
      reservesKey === undefined
        ? undefined
        : new ReservesCounter(
            this.state,
            { folder: folder.reserves, key: reservesKey },
            onReserves,
          );
    this.replica = new Replica(this.state.engine, [
      {
        onCommand: (applied) => {
          const sealed = observe(this.state, applied);
          const { blocks, rows } = this.state;
          rows.onCommand(applied, blocks.currentNumber, sealed);
          this.lastBlock = sealed ?? this.lastBlock;
          counter?.onCommand(applied);
        },
      },
    ]);
  }

  /** Commands applied since the last snapshot. */
  get commandsSince(): number {
    return this.replica.seq - this.snapshotAt;
  }

  /** Batches left before `batch`. */
  batchesBefore(batch: number): number {
    return batch - this.reader.seq.batch;
  }

  /** Applies up to `batch`, for about `forMs`, and at most `commands` past the last snapshot. */
  advance(batch: number, forMs: number, commands: number): "caught up" | "behind" {
    const started = performance.now();
    for (let count = 1; this.commandsSince < commands; count++) {
      const next = this.reader.next(batch);
      if (next === undefined) return "caught up";
      this.replica.applyBatch(next);
      if (count % CLOCK_EVERY === 0 && performance.now() - started > forMs) break;
    }
    return "behind";
  }

  /** Audits, writes a snapshot and its checkpoint, and removes old snapshots. */
  take(keep: number): Taken {
    const { seq } = this.replica;
    const faults = audit(this.state.engine);
    if (faults.length > 0) throw new AuditFailed(seq, faults);
    const engineBytes = this.state.engine.snapshot();
    const stateHash = createHash("sha256").update(engineBytes).digest("hex");
    const place = this.reader.seq;
    const body = encodeReplicaState(this.state, engineBytes);
    const { bytes } = this.snapshots.write(place, body);
    const checkpoint = {
      position: seq,
      batch: place.batch,
      record: place.record,
      stateHash,
      format: STATE_FORMAT,
      block: this.lastBlock?.number ?? 0,
      blockHash: this.lastBlock?.hash.toString("hex") ?? "",
    };
    this.checkpoints.append(checkpoint);
    this.snapshots.keepNewest(keep);
    this.snapshotAt = seq;
    return { checkpoint, bytes };
  }

  /** Restarts the count towards the next snapshot, because this one could not be written. */
  postpone(): void {
    this.snapshotAt = this.replica.seq;
  }

  close(): void {
    this.reader.close();
    this.checkpoints.close();
  }
}
