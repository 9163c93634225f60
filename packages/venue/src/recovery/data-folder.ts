/** The paths within a venue's data folder. */
import { closeSync, fsyncSync, openSync } from "node:fs";
import { join } from "node:path";

export interface DataFolder {
  /** Segments of the log, its lock and its snapshots. */
  readonly journal: string;
  /** Derived from the log; may be deleted while the venue is stopped, unless the log was pruned. */
  readonly history: string;
  /** State hashes by seq, one JSON line each. */
  readonly checkpoints: string;
  /** The venue's time with the boot clock's. */
  readonly clock: string;
  /** The last checkpoint of the transparency log that was signed. */
  readonly logCheckpoint: string;
  /** The secret that signs checkpoints, unless the settings name another file. */
  readonly logKey: string;
  /** Checkpoints that were published. */
  readonly logPublished: string;
  /** Which key succeeded which. */
  readonly logSuccessors: string;
  /** Trees of what the venue owes, of the last seven days. */
  readonly reserves: string;
  /** How far the archive is that is fed from here. */
  readonly archived: string;
}

export function dataFolder(directory: string): DataFolder {
  return {
    journal: join(directory, "journal"),
    history: join(directory, "history"),
    checkpoints: join(directory, "checkpoints.jsonl"),
    clock: join(directory, "clock.json"),
    logCheckpoint: join(directory, "log-checkpoint"),
    logKey: join(directory, "log.key"),
    logPublished: join(directory, "log-published.json"),
    logSuccessors: join(directory, "log-successors.json"),
    reserves: join(directory, "reserves"),
    archived: join(directory, "archived.json"),
  };
}

/** Makes a file, or the entries of a folder, durable. */
export function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
