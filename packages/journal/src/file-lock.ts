/**
 * An exclusive lock on a file, held by the kernel and gone with the process, even after kill -9.
 *
 * Node has no flock. A file that names a process id cannot take its place: the id may have been
 * given to another process, and in a container every venue is process 1. But a flock belongs to an
 * open file description, and a child that inherits the descriptor shares it. So the `flock` program
 * (util-linux, busybox) locks the descriptor that we pass it and exits, and the lock stays with us
 * until our descriptor closes. Node opens files close-on-exec, so no other child keeps it alive.
 * On macOS open(2) takes the lock itself. Where neither exists the journal refuses to open: a lock
 * that might not hold is worse than none.
 *
 * What the file says (a process id) is only for the message to the one who is refused.
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import type { DiskLock, LockHolder } from "./disk.js";
import { JournalError } from "./errors.js";

/** O_EXLOCK of macOS, which `fs.constants` does not list. */
const DARWIN_O_EXLOCK = 0x20;
/** The exit status of flock -n, in util-linux and busybox, when another process holds the lock. */
const HELD_ELSEWHERE = 1;

export function lockFile(path: string): DiskLock | LockHolder {
  const descriptor = process.platform === "darwin" ? openLocked(path) : openThenLock(path);
  if (descriptor === undefined) {
    return { held: false, holder: fs.readFileSync(path, "latin1").trim() };
  }
  fs.ftruncateSync(descriptor);
  fs.writeSync(descriptor, `${process.pid}\n`, 0);
  return { held: true, release: () => fs.closeSync(descriptor) };
}

function openThenLock(path: string): number | undefined {
  const descriptor = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o644);
  const child = spawnSync("flock", ["-n", "-x", "3"], {
    stdio: ["ignore", "ignore", "ignore", descriptor],
  });
  if (child.status === 0) return descriptor;
  fs.closeSync(descriptor);
  if (child.status === HELD_ELSEWHERE) return undefined;
  throw new JournalError(
    "lock_unavailable",
    `cannot lock ${path}: the program \`flock\` (util-linux) is needed and ${
      child.error?.message ?? `ended with status ${child.status}`
    }`,
  );
}

function openLocked(path: string): number | undefined {
  const { O_RDWR, O_CREAT, O_NONBLOCK } = fs.constants;
  try {
    return fs.openSync(path, O_RDWR | O_CREAT | O_NONBLOCK | DARWIN_O_EXLOCK, 0o644);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EAGAIN") return undefined;
    throw error;
  }
}
