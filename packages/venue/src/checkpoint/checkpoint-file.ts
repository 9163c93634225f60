/**
 * Checkpoints: what the state's hash was at a place in the log, one JSON line each, synced as they
 * are written. A verifier replays the log and compares. A crash can leave the last line in part; it
 * is cut when the file is next opened for writing, and readers skip it, as they skip every line that
 * is no checkpoint.
 */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from "node:fs";

export interface Checkpoint {
  /** Position of the last command applied. */
  readonly position: number;
  /** The log's place: batches and records before it. */
  readonly batch: number;
  readonly record: number;
  /** SHA-256 of the engine's canonical state, hex. */
  readonly stateHash: string;
  /** The form of the bytes that were hashed: a state has another hash in another form. */
  readonly format: number;
  /** The last block sealed by then, and its hash; 0 and "" if none. */
  readonly block: number;
  readonly blockHash: string;
}

export class CheckpointFile {
  private readonly descriptor: number;
  private length: number;

  constructor(path: string) {
    const whole = wholeLines(path);
    this.descriptor = openSync(path, existsSync(path) ? "r+" : "wx+", 0o600);
    this.length = whole.length;
    ftruncateSync(this.descriptor, this.length);
  }

  /** Durable on return. */
  append(checkpoint: Checkpoint): void {
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

/** Lines of a checkpoint file: what they say, and how many say nothing. */
export interface CheckpointLines {
  /** In the order of the file, each with its line as it stands there. */
  readonly lines: readonly { readonly checkpoint: Checkpoint; readonly text: string }[];
  /** Whole lines that are no checkpoint. */
  readonly bad: number;
}

/** A line that is no checkpoint claims nothing: the others count. */
export function readCheckpointLines(path: string): CheckpointLines {
  const texts = wholeLines(path).toString("utf8").split("\n").slice(0, -1);
  const lines = texts.flatMap((text) => {
    const checkpoint = checkpointOf(text);
    return checkpoint === undefined ? [] : [{ checkpoint, text }];
  });
  return { lines, bad: texts.length - lines.length };
}

export function readCheckpoints(path: string): Checkpoint[] {
  return readCheckpointLines(path).lines.map(({ checkpoint }) => checkpoint);
}

function checkpointOf(text: string): Checkpoint | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isCheckpoint(value) ? { ...value, format: value.format ?? FIRST_FORMAT } : undefined;
  } catch {
    return undefined;
  }
}

function wholeLines(path: string): Buffer {
  if (!existsSync(path)) return Buffer.alloc(0);
  const bytes = readFileSync(path);
  return bytes.subarray(0, bytes.lastIndexOf(10) + 1);
}

/** The form that was meant when checkpoints did not say which. */
const FIRST_FORMAT = 1;

type StoredCheckpoint = Omit<Checkpoint, "format"> & { readonly format?: number };

function isCheckpoint(value: unknown): value is StoredCheckpoint {
  if (typeof value !== "object" || value === null) return false;
  return (
    (!("format" in value) || Number.isSafeInteger(value.format)) &&
    "position" in value &&
    Number.isSafeInteger(value.position) &&
    "batch" in value &&
    Number.isSafeInteger(value.batch) &&
    "record" in value &&
    Number.isSafeInteger(value.record) &&
    "stateHash" in value &&
    typeof value.stateHash === "string" &&
    "block" in value &&
    Number.isSafeInteger(value.block) &&
    "blockHash" in value &&
    typeof value.blockHash === "string"
  );
}
