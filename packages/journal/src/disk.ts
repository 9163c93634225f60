/**
 * The file operations that the journal needs, as an interface, so that tests can use a disk that
 * fails.
 *
 * All calls are synchronous: the committing thread does one thing after the other, and tests can
 * place a crash between any two calls. A call that fails throws the system's error with its
 * `code`.
 */

export interface Disk {
  /** `create` creates a new file and fails if the name exists. */
  open(path: string, mode: "read" | "write" | "create"): DiskFile;
  rename(from: string, to: string): void;
  remove(path: string): void;
  /** Names in a directory, in no particular order. */
  list(directory: string): string[];
  /** Creates the directory and its parents, durably, readable by the owner only. */
  makeDirectory(directory: string): void;
  /** Makes the names in a directory durable: without it a synced file may have no name. */
  syncDirectory(directory: string): void;
  /**
   * Bytes that new files in the directory may take: the free space of its disk, less a reserve for
   * the writes that a running venue cannot do without.
   */
  roomBytes(directory: string): number;
  /**
   * Takes an exclusive lock on a directory, or returns its holder. The kernel releases the lock when
   * the process ends, also after kill -9.
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
  /** The holder's process id, or "" if unknown. */
  readonly holder: string;
}

/**
 * The code of a system error, such as ENOENT. Not by its class: in jest modules see another `Error` than
 * the one that Node throws.
 */
export function systemCode(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

/** Whether a call failed because the file does not exist. */
export function isNotThere(error: unknown): boolean {
  return systemCode(error) === "ENOENT";
}

/** Whether a call failed because the disk is full or the user's quota is used up. */
export function isNoRoom(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOSPC" || code === "EDQUOT";
}

/**
 * Throws ENOSPC if a new file of this size would use up the disk. Without it, writing the file would
 * fill the disk before it fails, and other writes would fail until the partial file is removed.
 */
export function refuseToFill(disk: Disk, directory: string, bytes: number): void {
  const room = disk.roomBytes(directory);
  if (room >= bytes) return;
  const message =
    `ENOSPC: no space left on device, ${bytes} bytes in ${directory}: of its free space ` +
    `${Math.max(0, room)} bytes may be used, the rest is kept for what cannot wait`;
  throw Object.assign(new Error(message), { code: "ENOSPC", syscall: "statfs" });
}

/**
 * Creates a file under a temporary name and renames it when it is complete. If that fails, removes
 * the temporary file, which would otherwise occupy the last room of a full disk.
 */
export function makeWhole<T>(disk: Disk, unfinished: string, path: string, make: () => T): T {
  try {
    const made = make();
    disk.rename(unfinished, path);
    return made;
  } catch (error) {
    discard(disk, unfinished);
    throw error;
  }
}

/** Removes an unfinished file; if that fails, the next open of the log removes it. */
export function discard(disk: Disk, unfinished: string): void {
  try {
    disk.remove(unfinished);
  } catch {
    // It does not exist or cannot be removed.
  }
}

/** Work in short steps, between which the thread that commits can commit. */
export type Steps<T> = Generator<void, T>;

/** Does all steps, one after the other. */
export function toEnd<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Writes all of `bytes`, in several writes if they are short. */
export function writeFully(file: DiskFile, bytes: Uint8Array, offset: number): void {
  let written = 0;
  while (written < bytes.length) {
    const count = file.write(written === 0 ? bytes : bytes.subarray(written), offset + written);
    if (count <= 0) throw new Error(`a write of ${bytes.length - written} bytes made no progress`);
    written += count;
  }
}

/** Reads `length` bytes, or fewer at the end of the file. */
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

/** Writes zeros over [from, to). */
export function writeZeros(file: DiskFile, from: number, to: number): void {
  toEnd(zeroSteps(file, from, to));
}

/** A step per piece, with a sync of its own, so that no single sync takes long. */
export function* zeroSteps(
  file: DiskFile,
  from: number,
  to: number,
  pieceBytes = ZEROS.length,
): Steps<void> {
  for (let at = from; at < to; at += pieceBytes) {
    if (at > from) yield;
    writeFully(file, ZEROS.subarray(0, Math.min(pieceBytes, to - at)), at);
    file.sync();
  }
}
