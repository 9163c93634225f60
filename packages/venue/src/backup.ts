/**
 * Copies a data folder that a venue may be writing to.
 *
 * The copy holds log, snapshots and checkpoints up to one place in the log, and is durable on return.
 * A plain copy of a live log can be torn in the middle, because the copier reads its beginning before
 * its end. So the end is looked up first and nothing past it is copied; what is before it never
 * changes. The history is left out: it is rebuilt from the log, and cannot be copied while written.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { inspectLog, isNotThere, JournalDamaged, type LogState, nodeDisk } from "@perpgate/journal";
import { readCheckpointLines } from "./checkpoint/checkpoint-file.js";
import { dataFolder, sync } from "./recovery/data-folder.js";
import { refuseUnknownLog } from "./recovery/log-version.js";

const SEGMENT = /^(\d+)\.log$/;
const SNAPSHOT = /^(\d+)\.snapshot$/;
const CHUNK_BYTES = 1 << 20;
const PRIVATE_FOLDER = 0o700;
/** An inspection of a log that is being written can see half a commit; a repetition will not. */
const TRIES = 5;

export interface Backup {
  /** Commands in the copied log. */
  readonly records: number;
  readonly bytes: number;
}

export interface BackupOptions {
  /** Called after each file, with all bytes copied so far. */
  readonly onCopied?: (file: string, bytes: number) => void;
  readonly makeFolder?: (path: string, mode: number) => void;
}

/** Nothing was copied, for a reason that the operator can act on. */
export class BackupRefused extends Error {
  override readonly name = "BackupRefused";
}

/**
 * Copies `from` into `to`, a folder that is missing or empty.
 *
 * @throws BackupRefused, and UnknownToRelease for a log that this release could not verify
 */
export function backUp(from: string, to: string, options: BackupOptions = {}): Backup {
  const { onCopied = () => undefined, makeFolder = makeFolders } = options;
  if (existsSync(to) && readdirSync(to).length > 0) {
    throw new BackupRefused(`${to} is not empty; name a folder that is missing or empty`);
  }
  const [source, target] = [dataFolder(from), dataFolder(to)];
  refuseUnknownLog(source.journal);
  for (let tries = 1; ; tries++) {
    const log = inspect(source.journal);
    makeFolder(target.journal, PRIVATE_FOLDER);
    try {
      let bytes = copyLog(source.journal, target.journal, log, onCopied);
      bytes += copyCheckpoints(source.checkpoints, target.checkpoints, log);
      for (const folder of [target.journal, to]) sync(folder);
      return { records: log.end.record, bytes };
    } catch (error) {
      // A venue that prunes its log meanwhile leaves a copy with a gap.
      rmSync(target.journal, { recursive: true });
      if (!isNotThere(error) || tries === TRIES) throw error;
    }
  }
}

function makeFolders(path: string, mode: number): void {
  mkdirSync(path, { recursive: true, mode });
}

function copyLog(
  source: string,
  target: string,
  log: LogState,
  onCopied: (file: string, bytes: number) => void,
): number {
  const names = readdirSync(source);
  let bytes = 0;
  // First: the venue removes old snapshots, and a pruned log begins with one.
  for (const name of names) {
    const batch = Number(SNAPSHOT.exec(name)?.[1] ?? Number.NaN);
    if (!(batch <= log.end.batch)) continue;
    bytes += copySnapshot(join(source, name), join(target, name));
    onCopied(join(source, name), bytes);
  }
  for (const name of names) {
    const segment = Number(SEGMENT.exec(name)?.[1] ?? Number.NaN);
    if (segment > log.segment || Number.isNaN(segment)) continue;
    const length = segment < log.segment ? undefined : log.offset;
    bytes += copySegment(join(source, name), join(target, name), length);
    onCopied(join(source, name), bytes);
  }
  return bytes;
}

function inspect(journal: string, triesLeft = TRIES): LogState {
  try {
    const log = existsSync(journal) ? inspectLog(nodeDisk, journal, "tail") : undefined;
    if (log !== undefined) return log;
  } catch (error) {
    if (!(error instanceof JournalDamaged)) throw error;
    if (triesLeft === 1) throw new BackupRefused(error.message);
    return inspect(journal, triesLeft - 1);
  }
  throw new BackupRefused(`there is no log in ${journal}`);
}

/** `length`: how many bytes count, for the segment that is being written; zeros follow them. */
function copySegment(from: string, to: string, length: number | undefined): number {
  const size = statSync(from).size;
  if (length === undefined) {
    copyFileSync(from, to);
    sync(to);
    return size;
  }
  const source = openSync(from, "r");
  const target = openSync(to, "wx");
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let at = 0; at < length; ) {
      const read = readSync(source, chunk, 0, Math.min(CHUNK_BYTES, length - at), at);
      if (read === 0) throw new BackupRefused(`${from} ended at ${at}, before ${length}`);
      for (let written = 0; written < read; ) {
        written += writeSync(target, chunk, written, read - written, at + written);
      }
      at += read;
    }
    ftruncateSync(target, size);
    fsyncSync(target);
  } finally {
    closeSync(source);
    closeSync(target);
  }
  return length;
}

function copySnapshot(from: string, to: string): number {
  try {
    copyFileSync(from, to);
  } catch (error) {
    // The venue keeps a few and removes the oldest; none is needed to restore.
    if (isNotThere(error)) return 0;
    throw error;
  }
  sync(to);
  return statSync(to).size;
}

/** Copies those that the copied log reaches: one past its end would claim a loss. */
function copyCheckpoints(from: string, to: string, log: LogState): number {
  if (!existsSync(from)) return 0;
  // A line that is no checkpoint, or half written, claims nothing and is left out.
  const kept = readCheckpointLines(from).lines.filter(
    ({ checkpoint }) => checkpoint.record <= log.end.record,
  );
  const text = kept.map(({ text: line }) => `${line}\n`).join("");
  writeFileSync(to, text);
  sync(to);
  return text.length;
}
