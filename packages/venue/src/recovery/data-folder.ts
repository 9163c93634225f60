/** Where the parts of a venue lie in its data folder. */
import { join } from "node:path";

export interface DataFolder {
  /** Segments of the log, its lock and its snapshots. */
  readonly journal: string;
  /** The history: derived, may be deleted while the venue is stopped. */
  readonly history: string;
  /** State hashes by position, one JSON line each. */
  readonly checkpoints: string;
  /** The venue's time next to that of the boot clock. */
  readonly clock: string;
}

export function dataFolder(directory: string): DataFolder {
  return {
    journal: join(directory, "journal"),
    history: join(directory, "history"),
    checkpoints: join(directory, "checkpoints.jsonl"),
    clock: join(directory, "clock.json"),
  };
}
