/**
 * Writes snapshots and their checkpoints, in the thread that writes the store, so that who takes a snapshot
 * does not wait for the disk. A crash while a snapshot is written leaves the previous ones; a crash between
 * snapshot and checkpoint leaves a snapshot without a checkpoint, which is harmless.
 */
import { createHash } from "node:crypto";
import { STATE_FORMAT } from "@perpgate/engine";
import { FileSnapshots, type LogSeq, nodeDisk } from "@perpgate/journal";
import { readArchived } from "../archive/archive-note.js";
import type { DataFolder } from "../recovery/data-folder.js";
import { CheckpointFile, type StateCheckpoint } from "./checkpoint-file.js";

/** Where they are, and how many are kept, next to one as old as the archive. */
export interface SnapshotFiles extends Pick<DataFolder, "archived"> {
  readonly journal: string;
  readonly checkpoints: string;
  readonly keep: number;
}

/** A replica's state after a batch of the log. */
export interface TakenSnapshot {
  readonly place: LogSeq;
  readonly checkpoint: Omit<StateCheckpoint, "batch" | "record" | "stateHash" | "format">;
  /** The engine's bytes are the last piece, and the state hash covers them alone. */
  readonly body: readonly Uint8Array<ArrayBuffer>[];
}

export type SnapshotOutcome =
  | { readonly kind: "checkpoint"; readonly checkpoint: StateCheckpoint; readonly bytes: number }
  /** It could not be written. The log needs no snapshots, so a full disk is not fatal here. */
  | { readonly kind: "unwritten"; readonly message: string };

export class SnapshotWriter {
  private readonly snapshots: FileSnapshots;
  private checkpoints: CheckpointFile | undefined;

  constructor(
    private readonly files: SnapshotFiles,
    logId: Uint8Array,
  ) {
    this.snapshots = new FileSnapshots(nodeDisk, files.journal, logId);
  }

  /** Writes it with its checkpoint, and removes old snapshots. */
  write({ place, checkpoint: about, body }: TakenSnapshot): SnapshotOutcome {
    try {
      const stateHash = createHash("sha256").update(body.at(-1)!).digest("hex");
      const { bytes } = this.snapshots.write(place, body);
      const { batch, record } = place;
      const { position, block, blockHash } = about;
      const at = { position, batch, record, stateHash, format: STATE_FORMAT };
      const checkpoint = { ...at, block, blockHash };
      this.checkpoints ??= new CheckpointFile(this.files.checkpoints);
      this.checkpoints.append(checkpoint);
      this.snapshots.keepNewest(this.files.keep, readArchived(this.files)?.batch);
      return { kind: "checkpoint", checkpoint, bytes };
    } catch (error) {
      if (!(error instanceof Error && "syscall" in error)) throw error;
      return { kind: "unwritten", message: error.message };
    }
  }

  close(): void {
    this.checkpoints?.close();
    this.checkpoints = undefined;
  }
}
