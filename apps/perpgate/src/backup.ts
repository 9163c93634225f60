/**
 * A copy of a data folder that a venue may be writing to at this moment.
 *
 * Comes in: a data folder and a folder that is missing or empty. Goes out: log, snapshots and
 * checkpoints up to one place in the log, durable on return. A plain copy of a live log can be torn
 * in its middle, since the copier reads its beginning before its end; so the end is looked up first
 * and nothing past it is copied, and what lies before it never changes again. The history is left
 * out: it is rebuilt from the log, and no copy of it is safe while it is written.
 */

import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
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
import { readCheckpointLines } from "@perpgate/venue";
import { makeFolder } from "./cli/make-folder.js";
import { StartError } from "./cli/start-error.js";

const SEGMENT = /^(\d+)\.log$/;
const SNAPSHOT = /^(\d+)\.snapshot$/;
const CHUNK_BYTES = 1 << 20;
/** A look at a log that is being written can meet half a commit; the next look will not. */
const LOOKS = 5;

export interface Backup {
  /** Commands in the copied log. */
  readonly records: number;
  readonly bytes: number;
}

/** Hears of every file that was copied, and of the bytes so far. */
export type OnCopied = (file: string, bytes: number) => void;

export function backUp(from: string, to: string, onCopied: OnCopied = () => undefined): Backup {
  if (existsSync(to) && readdirSync(to).length > 0) {
    throw new StartError(`${to} is not empty; name a folder that is missing or empty`);
  }
  const target = join(to, "journal");
  for (let tries = 1; ; tries++) {
    const log = lookAt(join(from, "journal"), LOOKS);
    makeFolder(target, 0o700);
    try {
      let bytes = copyLog(join(from, "journal"), target, log, onCopied);
      bytes += copyCheckpoints(from, to, log);
      for (const folder of [target, to]) sync(folder);
      return { records: log.end.record, bytes };
    } catch (error) {
      // A venue that gives up the log's beginning meanwhile leaves a copy with a gap in it.
      rmSync(target, { recursive: true });
      if (!isNotThere(error) || tries === LOOKS) throw error;
    }
  }
}

function copyLog(source: string, target: string, log: LogState, onCopied: OnCopied): number {
  const names = readdirSync(source);
  let bytes = 0;
  // First, since the venue removes old ones, and a log that was pruned begins with one.
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

function lookAt(journal: string, looks: number): LogState {
  try {
    const log = existsSync(journal) ? inspectLog(nodeDisk, journal, "tail") : undefined;
    if (log !== undefined) return log;
  } catch (error) {
    if (!(error instanceof JournalDamaged)) throw error;
    if (looks === 1) throw new StartError(error.message);
    return lookAt(journal, looks - 1);
  }
  throw new StartError(`there is no log in ${journal}`);
}

/** `length`: how much of the segment that is written to counts; the rest stays empty. */
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
      if (read === 0) throw new StartError(`${from} ended at ${at}, before ${length}`);
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

/** Only those that the copied log reaches: one past its end would be a claim it cannot keep. */
function copyCheckpoints(from: string, to: string, log: LogState): number {
  const path = join(from, "checkpoints.jsonl");
  if (!existsSync(path)) return 0;
  // A line that is no checkpoint, or that is being written, claims nothing and is left out.
  const kept = readCheckpointLines(path).lines.filter(
    ({ checkpoint }) => checkpoint.record <= log.end.record,
  );
  const text = kept.map(({ text: line }) => `${line}\n`).join("");
  writeFileSync(join(to, "checkpoints.jsonl"), text);
  sync(join(to, "checkpoints.jsonl"));
  return text.length;
}

function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
