/**
 * Checkpoints: the state's hash at a position in the log, one JSON line each, synced as it is written.
 * A verifier replays the log and compares. A crash can leave a partial last line; it is cut when the
 * file is next opened for writing. Readers skip it, and every other line that is no checkpoint. The file
 * grows for as long as the venue runs, so it is read in chunks.
 */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { hasFields, isInteger, isOptional, isText } from "../stored-json.js";

export interface StateCheckpoint {
  /** Seq of the last command applied, under its name in the file. */
  readonly position: number;
  /** Batches and records of the log up to here. */
  readonly batch: number;
  readonly record: number;
  /** SHA-256 of the engine's canonical state, hex. */
  readonly stateHash: string;
  /** Format of the hashed bytes: a state has another hash in another format. */
  readonly format: number;
  /** The last block sealed by then, and its hash; 0 and "" if none. */
  readonly block: number;
  readonly blockHash: string;
}

export class CheckpointFile {
  private readonly descriptor: number;
  private length: number;

  constructor(path: string) {
    this.descriptor = openSync(path, existsSync(path) ? "r+" : "wx+", 0o600);
    this.length = wholeLength(this.descriptor);
    ftruncateSync(this.descriptor, this.length);
  }

  /** Durable on return. */
  append(checkpoint: StateCheckpoint): void {
    const line = Buffer.from(`${JSON.stringify(checkpoint)}\n`);
    for (let written = 0; written < line.length; ) {
      written += writeSync(
        this.descriptor,
        line,
        written,
        line.length - written,
        this.length + written,
      );
    }
    fdatasyncSync(this.descriptor);
    this.length += line.length;
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

interface CheckpointLines {
  /** In the order of the file, each with its text. */
  readonly lines: readonly { readonly checkpoint: StateCheckpoint; readonly text: string }[];
  /** Whole lines that are no checkpoint. */
  readonly bad: number;
}

/** Lines that are no checkpoint are counted and skipped. */
export function readCheckpointLines(path: string): CheckpointLines {
  const lines: { checkpoint: StateCheckpoint; text: string }[] = [];
  let bad = 0;
  for (const text of wholeLines(path)) {
    const checkpoint = checkpointOf(text);
    if (checkpoint === undefined) bad++;
    else lines.push({ checkpoint, text });
  }
  return { lines, bad };
}

/** The checkpoint with the most batches; keeps no other in memory. */
export function furthestCheckpoint(path: string): StateCheckpoint | undefined {
  let furthest: StateCheckpoint | undefined;
  for (const text of wholeLines(path)) {
    const checkpoint = checkpointOf(text);
    if (checkpoint !== undefined && checkpoint.batch > (furthest?.batch ?? 0)) {
      furthest = checkpoint;
    }
  }
  return furthest;
}

function checkpointOf(text: string): StateCheckpoint | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isCheckpoint(value) ? { ...value, format: value.format ?? FIRST_FORMAT } : undefined;
  } catch {
    return undefined;
  }
}

const NEWLINE = 10;
/** Much longer than a checkpoint. */
const CHUNK_BYTES = 65_536;

/** The lines that end with a newline. Of one that is longer than a chunk, only a part. */
function* wholeLines(path: string): Generator<string> {
  if (!existsSync(path)) return;
  const descriptor = openSync(path, "r");
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let rest = Buffer.alloc(0);
    for (;;) {
      const count = readSync(descriptor, chunk);
      if (count === 0) return;
      const bytes = Buffer.concat([rest, chunk.subarray(0, count)]);
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      yield* bytes.toString("utf8", 0, end).split("\n").slice(0, -1);
      rest = bytes.subarray(end, end + CHUNK_BYTES);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** The bytes up to the last newline, which is looked for from the end. */
function wholeLength(descriptor: number): number {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let end = fstatSync(descriptor).size; end > 0; ) {
    const start = Math.max(0, end - CHUNK_BYTES);
    const count = readSync(descriptor, chunk, 0, end - start, start);
    const at = chunk.subarray(0, count).lastIndexOf(NEWLINE);
    if (at >= 0) return start + at + 1;
    end = start;
  }
  return 0;
}

/** The format of checkpoints that do not name one. */
const FIRST_FORMAT = 1;

type StoredCheckpoint = Omit<StateCheckpoint, "format"> & { readonly format?: number };

function isCheckpoint(value: unknown): value is StoredCheckpoint {
  return hasFields(value, {
    position: isInteger,
    batch: isInteger,
    record: isInteger,
    stateHash: isText,
    format: isOptional(isInteger),
    block: isInteger,
    blockHash: isText,
  });
}
