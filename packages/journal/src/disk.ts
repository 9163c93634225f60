/**
 * The few things that the journal asks of a disk, so that a test can hand it one that fails.
 *
 * All calls are synchronous: the committing thread has nothing else to do while it waits, and a
 * crash can then be placed exactly between two calls. A call that fails throws the system's error
 * with its `code`.
 */

export interface Disk {
  /** `create` makes a new file and fails if the name is taken. */
  open(path: string, mode: "read" | "write" | "create"): DiskFile;
  rename(from: string, to: string): void;
  remove(path: string): void;
  /** Names in a directory, in no particular order. */
  list(directory: string): string[];
  /** Makes the directory and those above it, durably; only its owner may look into it. */
  makeDirectory(directory: string): void;
  /** Makes the names in a directory durable: without it a synced file may have no name. */
  syncDirectory(directory: string): void;
  /**
   * Takes an exclusive lock on a directory that ends with the process however it ends, or tells who
   * holds it.
   */
  lock(directory: string): DiskLock | LockHolder;
}

export interface DiskFile {
  size(): number;
  /** Reads at most `into.length` bytes; fewer only at the end of the file. */
  read(into: Uint8Array, offset: number): number;
  /** May write fewer bytes than given, as write(2) may. */
  write(bytes: Uint8Array, offset: number): number;
  /** Makes the bytes of this file durable (fdatasync). */
  sync(): void;
  close(): void;
}

export interface DiskLock {
  readonly held: true;
  release(): void;
}

export interface LockHolder {
  readonly held: false;
  /** The process id that took the lock, or "" if it did not say. */
  readonly holder: string;
}

/** Whether a call failed because nothing has that name. */
export function isNotThere(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** Whether a call failed because the disk, or whoever may use it, has no room left. */
export function isNoRoom(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.code === "ENOSPC" || error.code === "EDQUOT")
  );
}

/**
 * Makes a file under a name of its own and gives it its final name when it is whole. If that fails,
 * what was made goes again: on a full disk it would hold the last room there is.
 */
export function makeWhole<T>(disk: Disk, unfinished: string, path: string, make: () => T): T {
  try {
    const made = make();
    disk.rename(unfinished, path);
    return made;
  } catch (error) {
    try {
      disk.remove(unfinished);
    } catch {
      // Not there, or not to be removed: the next open of the log does it.
    }
    throw error;
  }
}

/** Writes all of `bytes`, however short the single writes are. */
export function writeFully(file: DiskFile, bytes: Uint8Array, offset: number): void {
  let written = 0;
  while (written < bytes.length) {
    const count = file.write(written === 0 ? bytes : bytes.subarray(written), offset + written);
    if (count <= 0) throw new Error(`a write of ${bytes.length - written} bytes made no progress`);
    written += count;
  }
}

/** Reads `length` bytes, or what the file has. */
export function readUpTo(file: DiskFile, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  let read = 0;
  while (read < length) {
    const count = file.read(bytes.subarray(read), offset + read);
    if (count <= 0) break;
    read += count;
  }
  return bytes.subarray(0, read);
}

const ZEROS = Buffer.alloc(1024 * 1024);

/** Writes zeros over [from, to), syncing as it goes so that no single sync is a long one. */
export function writeZeros(file: DiskFile, from: number, to: number): void {
  for (let at = from; at < to; at += ZEROS.length) {
    writeFully(file, ZEROS.subarray(0, Math.min(ZEROS.length, to - at)), at);
    file.sync();
  }
}
