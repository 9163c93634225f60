/** What the venue and its checkpoint thread say to each other. */
import type { DataFolder } from "../recovery/data-folder.js";
import type { CheckpointOptions } from "../venue-options.js";
import type { Checkpoint } from "./checkpoint-file.js";

export interface ThreadData {
  readonly folder: DataFolder;
  readonly logId: Uint8Array;
  readonly options: CheckpointOptions;
  /** Batches of the log that are durable and that the history holds. */
  readonly batch: number;
  /** Of an `ExitDeadline`, if a failure ends the process. */
  readonly exitDeadline: SharedArrayBuffer | undefined;
}

export type ToThread =
  /** The log may be read up to this batch. */
  { readonly kind: "follow"; readonly batch: number } | { readonly kind: "close" };

export type FromThread =
  | {
      readonly kind: "checkpoint";
      readonly checkpoint: Checkpoint;
      readonly bytes: number;
      readonly elapsedMs: number;
    }
  /** No snapshot could be written; the log is whole, and it is tried again later. */
  | { readonly kind: "unwritten"; readonly message: string }
  /** The replica does not hold together. */
  | { readonly kind: "fault"; readonly message: string };
