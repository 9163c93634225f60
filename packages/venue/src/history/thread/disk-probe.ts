/**
 * A write of our own that meets a failing disk before lmdb does.
 *
 * lmdb does not survive a write that the system refuses (no room, a limit, a file system that turned
 * read-only): what it notes about it is longer than the memory it takes for the note. The heap is
 * then damaged, and the process ends by a signal, at once or while it exits, whichever thread wrote.
 * So the same is tried here first, where the store would grow, and a refusal is an ordinary error.
 *
 * In: the history's folder, and how many bytes of entries a transaction holds. Out: nothing, or an
 * error. It is to be asked right before each transaction is written; what fails in between is lmdb's
 * after all.
 */
import {
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

const PROBE = "probe";
const PRIVATE_FILE = 0o600;
/** What is written to try. */
const TRIAL = Buffer.alloc(262_144);
/** A store that only grows takes 1.6 bytes for each byte of its entries. */
const STORE_BYTES_PER_BYTE = 2;

export class DiskProbe {
  private readonly file: number;
  private readonly store: string;

  constructor(private readonly directory: string) {
    this.file = openSync(join(directory, PROBE), "w", PRIVATE_FILE);
    this.store = join(directory, "data.mdb");
  }

  /** Throws if the disk refuses what the store may be about to write. */
  check(entryBytes: number): void {
    const { size } = statSync(this.store);
    const needed = TRIAL.length + STORE_BYTES_PER_BYTE * entryBytes;
    const { blocks, bavail, bsize } = statfsSync(this.directory);
    // A file system without a count of its blocks is asked by the trial alone.
    if (blocks > 0 && bavail * bsize < needed) throw noRoom(needed, size);
    // At the end of it: a limit of the file's size shows there, and what lies before takes no room.
    const written = writeSync(this.file, TRIAL, 0, TRIAL.length, size + needed - TRIAL.length);
    ftruncateSync(this.file, 0);
    if (written < TRIAL.length) throw noRoom(needed, size);
  }

  close(): void {
    closeSync(this.file);
  }
}

/** Throws if the disk refuses a write or a sync in the folder: to be asked before lmdb opens there. */
export function proveWritable(directory: string): void {
  const path = join(directory, PROBE);
  const file = openSync(path, "w", PRIVATE_FILE);
  try {
    writeSync(file, TRIAL);
    fdatasyncSync(file);
  } finally {
    closeSync(file);
    rmSync(path);
  }
}

function noRoom(needed: number, size: number): Error {
  return new Error(`no room for ${needed} bytes past the first ${size}`);
}
