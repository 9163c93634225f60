/** The real disk: synchronous `node:fs` calls. */

import * as fs from "node:fs";
import { dirname, resolve } from "node:path";
import type { Disk, DiskFile } from "./disk.js";
import { lockDirectory } from "./file-lock.js";

/** The log contains who traded what: only the process's user may read it. */
const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;
/** For what a venue writes until the disk has room again, such as its history. */
const RESERVED_BYTES = 16 * 1024 * 1024;
const OPEN_FLAGS = { read: "r", write: "r+", create: "wx+" } as const;

export const nodeDisk: Disk = {
  open: (path, mode) => new NodeFile(fs.openSync(path, OPEN_FLAGS[mode], PRIVATE_FILE)),
  rename: fs.renameSync,
  remove: fs.unlinkSync,
  list: (directory) => fs.readdirSync(directory),
  makeDirectory,
  syncDirectory,
  roomBytes,
  lock: lockDirectory,
};

class NodeFile implements DiskFile {
  constructor(private readonly descriptor: number) {}

  size(): number {
    return fs.fstatSync(this.descriptor).size;
  }

  read(into: Uint8Array, offset: number): number {
    return fs.readSync(this.descriptor, into, 0, into.length, offset);
  }

  write(bytes: Uint8Array, offset: number): number {
    return fs.writeSync(this.descriptor, bytes, 0, bytes.length, offset);
  }

  sync(): void {
    fs.fdatasyncSync(this.descriptor);
  }

  close(): void {
    fs.closeSync(this.descriptor);
  }
}

function syncDirectory(directory: string): void {
  const descriptor = fs.openSync(directory, "r");
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Some file systems report no block count: there the writes alone show whether there is room. */
function roomBytes(directory: string): number {
  const { blocks, bavail, bsize } = fs.statfsSync(directory);
  return blocks > 0 ? bavail * bsize - RESERVED_BYTES : Number.POSITIVE_INFINITY;
}

/** A new directory is durable once its parent is synced: syncs upwards to the first that existed. */
function makeDirectory(directory: string): void {
  const first = fs.mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
  if (first === undefined) return;
  const top = dirname(resolve(first));
  for (let at = resolve(directory); at !== top; ) {
    at = dirname(at);
    syncDirectory(at);
  }
}
