/**
 * A trial write that detects a failing disk before lmdb writes.
 *
 * lmdb does not survive a write that the system refuses (disk full, a limit, a file system that became
 * read-only): its error message overflows its buffer. The heap is then damaged, and a signal ends the
 * process, immediately or at exit. So the same write is tried here first, at the offset where the store
 * would grow; a refusal is then an ordinary error.
 *
 * Must be called right before each transaction is written. A disk that fails between the trial and the
 * transaction still crashes lmdb.
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
/** The bytes of a trial write. */
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
    // Some file systems report no block count: there the trial alone decides.
    if (blocks > 0 && bavail * bsize < needed) throw noRoom(needed, size);
    // At the end of the needed range: shows a file size limit; the hole before it takes no space.
    const written = writeSync(this.file, TRIAL, 0, TRIAL.length, size + needed - TRIAL.length);
    ftruncateSync(this.file, 0);
    if (written < TRIAL.length) throw noRoom(needed, size);
  }

  close(): void {
    closeSync(this.file);
  }
}

/** Throws if the disk refuses a write or a sync in the folder. Call before lmdb opens there. */
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
