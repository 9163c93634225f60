/**
 * A write of our own that meets a failing disk before lmdb does.
 *
 * lmdb does not survive a write that the system refuses (no room, a limit, a file system that turned
 * read-only): what it notes about it is longer than the memory it takes for the note. The heap is
 * then damaged, and the process ends by a signal, at once or while it exits, whichever thread wrote.
 * So the same is tried here first, where the store would grow, and a refusal is an ordinary error.
 *
 * In: the history's folder. Out: nothing, or an error. It is to be asked right before each
 * transaction; what fails in between is lmdb's after all.
 */
import { closeSync, ftruncateSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";

/** More than most transactions take. */
const ROOM = Buffer.alloc(262_144);

export class DiskProbe {
  private readonly file: number;
  private readonly store: string;

  constructor(directory: string) {
    this.file = openSync(join(directory, "probe"), "w");
    this.store = join(directory, "data.mdb");
  }

  /** Throws if the disk refuses what the store may be about to write. */
  check(): void {
    const { size } = statSync(this.store);
    const written = writeSync(this.file, ROOM, 0, ROOM.length, size);
    ftruncateSync(this.file, 0);
    if (written < ROOM.length) {
      throw new Error(`no room for ${ROOM.length} bytes past the first ${size}`);
    }
  }

  close(): void {
    closeSync(this.file);
  }
}
