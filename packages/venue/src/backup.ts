/**
 * Copies a data folder that a venue may be writing to.
 *
 * The copy holds log, snapshots and checkpoints up to one place in the log, and is durable on return.
 * A plain copy of a live log can be torn in the middle, because the copier reads its beginning before
 * its end. So the end is looked up first and nothing past it is copied; what is before it never
 * changes.
 *
 * The history is copied only if the log was pruned: otherwise a start rebuilds it. A start needs a
 * snapshot that the history has reached and a log that has reached the history, so these are copied in
 * this order: snapshots, history, log. No snapshot is ahead of the history on disk, and no history is
 * ahead of its log.
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
import {
  FileSnapshots,
  inspectLog,
  isNotThere,
  JournalDamaged,
  type LogState,
  nodeDisk,
} from "@perpgate/journal";
import { readCheckpointLines } from "./checkpoint/checkpoint-file.js";
import { openEnvironment } from "./history/history-environment.js";
import { openForReading, type ReadStore } from "./history/history-store.js";
import { createPrivate, STORE_FILE } from "./history/sqlite.js";
import { type DataFolder, dataFolder, sync } from "./recovery/data-folder.js";
import { refuseUnknownLog } from "./recovery/log-version.js";
import { newestState } from "./recovery/newest-state.js";
import { type SignedClaim, signedClaim } from "./verify/stored-claims.js";

export const SEGMENT = /^(\d+)\.log$/;
const SNAPSHOT = /^(\d+)\.snapshot$/;
const CHUNK_BYTES = 1 << 20;
const PRIVATE_FOLDER = 0o700;
/** An inspection of a log that is being written can see half a commit; a repetition will not. */
const TRIES = 5;

export interface Backup {
  /** Commands in the copied log. */
  readonly records: number;
  readonly bytes: number;
  /** What the venue had signed before the copy was begun; the copy has no `log-checkpoint`. */
  readonly signed: SignedClaim;
}

export interface BackupOptions {
  /** Called after each file, with all bytes copied so far. */
  readonly onCopied?: (file: string, bytes: number) => void;
  readonly makeFolder?: (path: string, mode: number) => void;
  /** Copies no further than this place of the log; of a log that was pruned all of it is copied. */
  readonly end?: LogEnd | undefined;
}

/** The end of a log, or a place in it where a batch ends. */
export type LogEnd = Pick<LogState, "end" | "segment" | "offset">;

/** Nothing was copied, for a reason that the operator can act on. */
export class BackupRefused extends Error {
  override readonly name = "BackupRefused";
}

/**
 * Copies `from` into `to`, a folder that is missing or empty.
 *
 * @throws BackupRefused, and UnknownToRelease for a log that this release could not verify
 */
export async function backUp(
  from: string,
  to: string,
  options: BackupOptions = {},
): Promise<Backup> {
  const { onCopied = () => undefined, makeFolder = makeFolders, end } = options;
  if (existsSync(to) && readdirSync(to).length > 0) {
    throw new BackupRefused(`${to} is not empty; name a folder that is missing or empty`);
  }
  const [source, target] = [dataFolder(from), dataFolder(to)];
  refuseUnknownLog(source.journal);
  inspect(source.journal);
  for (let tries = 1; ; tries++) {
    makeFolder(target.journal, PRIVATE_FOLDER);
    try {
      const copied = await copyFolder(source, target, { onCopied, makeFolder, end });
      for (const folder of [target.journal, to]) sync(folder);
      return copied;
    } catch (error) {
      rmSync(target.journal, { recursive: true });
      rmSync(target.history, { recursive: true, force: true });
      rmSync(target.checkpoints, { force: true });
      rmSync(target.logSuccessors, { force: true });
      const isOvertaken = isNotThere(error) || error instanceof Overtaken;
      if (!isOvertaken || tries === TRIES) throw error;
    }
  }
}

/** The venue pruned its log, or replaced its snapshots, during the copy: another try may succeed. */
class Overtaken extends BackupRefused {}

function makeFolders(path: string, mode: number): void {
  mkdirSync(path, { recursive: true, mode });
}

async function copyFolder(
  source: DataFolder,
  target: DataFolder,
  { onCopied, makeFolder, end }: Required<BackupOptions>,
): Promise<Backup> {
  const signed = signedClaim(source);
  const before = inspect(source.journal);
  let bytes = 0;
  const count = (file: string, more: number): void => {
    bytes += more;
    onCopied(file, bytes);
  };
  copySnapshots(source.journal, target.journal, end ?? before, count);
  if (before.first.batch > 0) {
    makeFolder(target.history, PRIVATE_FOLDER);
    count(source.history, copyHistory(source.history, target.history, before));
  }
  const log = { ...inspect(source.journal), ...end };
  copySegments(source.journal, target.journal, log, count);
  if (inspect(target.journal).first.batch !== before.first.batch) {
    throw new Overtaken("the venue pruned its log during the copy; try again");
  }
  if (before.first.batch > 0) refuseUnstartable(target, log);
  bytes += copyCheckpoints(source.checkpoints, target.checkpoints, log);
  bytes += copySuccessors(source.logSuccessors, target.logSuccessors);
  return { records: log.end.record, bytes, signed };
}

type Count = (file: string, bytes: number) => void;

function copySnapshots(source: string, target: string, log: LogEnd, count: Count): void {
  for (const name of readdirSync(source)) {
    const batch = Number(SNAPSHOT.exec(name)?.[1] ?? Number.NaN);
    if (!(batch <= log.end.batch)) continue;
    count(join(source, name), copySnapshot(join(source, name), join(target, name)));
  }
}

function copySegments(source: string, target: string, log: LogEnd, count: Count): void {
  for (const name of readdirSync(source)) {
    const segment = Number(SEGMENT.exec(name)?.[1] ?? Number.NaN);
    if (segment > log.segment || Number.isNaN(segment)) continue;
    const length = segment < log.segment ? undefined : log.offset;
    count(join(source, name), copySegment(join(source, name), join(target, name), length));
  }
}

/** SQLite copies the file as it is at one moment, next to a process that writes it. */
function copyHistory(from: string, to: string, log: LogState): number {
  readableHistory(from, log).close();
  const file = join(to, STORE_FILE);
  createPrivate(file);
  const database = openEnvironment(from, true);
  try {
    database.exec(`VACUUM INTO '${file.replaceAll("'", "''")}'`);
  } finally {
    database.close();
  }
  for (const path of [file, to]) sync(path);
  return statSync(file).size;
}

function readableHistory(directory: string, { first, logId }: LogState): ReadStore {
  const opened = openForReading(directory, logId);
  if (opened !== undefined && !("kind" in opened)) return opened;
  throw new BackupRefused(
    `the log begins at batch ${first.batch}, so a copy needs the history, but ` +
      `${opened?.reason ?? "there is none"}; stop the venue and copy the whole folder`,
  );
}

/** A pruned log starts from a snapshot that the history has reached, and from no other. */
function refuseUnstartable(target: DataFolder, log: LogState): void {
  const store = readableHistory(target.history, log);
  store.close();
  const snapshots = new FileSnapshots(nodeDisk, target.journal, log.logId);
  const from = newestState(snapshots, store.held.batch)?.from;
  if (from !== undefined && from.batch >= log.first.batch) return;
  throw new Overtaken(
    `the log begins at batch ${log.first.batch}, and no copied snapshot leads there; ` +
      "try again, or stop the venue and copy the whole folder",
  );
}

export function inspect(journal: string, triesLeft = TRIES): LogState {
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
export function copySegment(from: string, to: string, length: number | undefined): number {
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
    // The venue keeps a few and removes the oldest.
    if (isNotThere(error)) return 0;
    throw error;
  }
  sync(to);
  return statSync(to).size;
}

/** Without them no client that pinned an earlier log key could follow a restored venue. */
function copySuccessors(from: string, to: string): number {
  if (!existsSync(from)) return 0;
  copyFileSync(from, to);
  sync(to);
  return statSync(to).size;
}

/** Copies those that the copied log reaches: one past its end would claim a loss. */
function copyCheckpoints(from: string, to: string, log: LogEnd): number {
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
