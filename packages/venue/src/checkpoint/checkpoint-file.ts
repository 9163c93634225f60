/**
 * Checkpoints: the state's hash at a position in the log, one JSON line each, synced as it is written.
 * A verifier replays the log and compares. A crash can leave a partial last line; it is cut when the
 * file is next opened for writing. Readers skip it, and every other line that is no checkpoint.
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
import { hasFields, isInteger, isOptional, isText } from "../stored-json.js";

export interface Checkpoint {
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

export interface CheckpointLines {
  /** In the order of the file, each with its text. */
  readonly lines: readonly { readonly checkpoint: Checkpoint; readonly text: string }[];
  /** Whole lines that are no checkpoint. */
  readonly bad: number;
}

/** Lines that are no checkpoint are counted and skipped. */
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

/** The format of checkpoints that do not name one. */
const FIRST_FORMAT = 1;

type StoredCheckpoint = Omit<Checkpoint, "format"> & { readonly format?: number };

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
