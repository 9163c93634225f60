/**
 * Copies a backup up to a position or a time: the log is cut after the last batch that ends there or
 * before. A batch is one write and one acknowledgement of the disk, so it is restored whole or not at all.
 */
import { nodeDisk, SegmentReader } from "@perpgate/journal";
import {
  type Backup,
  type BackupOptions,
  BackupRefused,
  backUp,
  inspect,
  type LogEnd,
} from "./backup.js";
import { dataFolder } from "./recovery/data-folder.js";
import { refuseUnknownLog } from "./recovery/log-version.js";
import { observe } from "./recovery/replica-state.js";
import { Replica } from "./replica.js";
import { startingPoint } from "./verify/starting-point.js";
import type { VerifyProgress } from "./verify/verify.js";

export interface RestoreTarget {
  /** The last command, inclusive. */
  readonly position?: number;
  /** Commands of that time or earlier. */
  readonly timeMs?: number;
}

interface Restored extends Backup {
  /** Of the last command in the copy. */
  readonly position: number;
  readonly timeMs: number;
}

interface Cut extends LogEnd {
  readonly position: number;
  readonly timeMs: number;
}

/** @throws BackupRefused, as `backUp` does, and if the log does not hold that place */
export async function restore(
  from: string,
  to: string,
  target: RestoreTarget,
  options: BackupOptions & { readonly onProgress?: (progress: VerifyProgress) => void } = {},
): Promise<Restored> {
  const { onProgress, ...copying } = options;
  const cut = await cutAt(from, target, onProgress);
  const copied = await backUp(from, to, { ...copying, end: cut });
  return { ...copied, position: cut.position, timeMs: cut.timeMs };
}

const PROGRESS_EVERY_MS = 500;

/** Replays the log, which alone says what position and time a batch has. */
async function cutAt(
  directory: string,
  { position = Number.POSITIVE_INFINITY, timeMs = Number.POSITIVE_INFINITY }: RestoreTarget,
  onProgress: (progress: VerifyProgress) => void = () => undefined,
): Promise<Cut> {
  const folder = dataFolder(directory);
  refuseUnknownLog(folder.journal);
  const log = inspect(folder.journal);
  if (log.first.batch > 0) {
    throw new BackupRefused(
      `the log begins at batch ${log.first.batch}: only as a whole can its history be used, which ` +
        "cannot be rebuilt; copy the folder",
    );
  }
  const { state, from } = startingPoint(folder.journal, log.logId, log.first);
  const replica = new Replica(state.engine, [{ onCommand: (applied) => observe(state, applied) }]);
  const reader = new SegmentReader(nodeDisk, folder.journal, from);
  let cut: Cut | undefined;
  let shownAt = performance.now();
  try {
    for (let batch = reader.next(log.end.batch); batch; batch = reader.next(log.end.batch)) {
      replica.applyBatch(batch);
      const { engine } = state;
      const now = { position: replica.seq, timeMs: engine.state.timeMs };
      if (now.position > position || now.timeMs > timeMs) return reached(cut);
      if (reader.place !== undefined) cut = { ...now, ...reader.place, end: reader.seq };
      if (performance.now() - shownAt < PROGRESS_EVERY_MS) continue;
      shownAt = performance.now();
      const { record } = reader.seq;
      onProgress({ seq: now.position, record, records: log.end.record });
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    reader.close();
  }
  if (position <= replica.seq || !Number.isFinite(position)) return reached(cut);
  throw new BackupRefused(`the log ends at position ${replica.seq}`);
}

function reached(cut: Cut | undefined): Cut {
  if (cut !== undefined) return cut;
  throw new BackupRefused("the log begins after that");
}
