/**
 * An exclusive lock on a directory, held by the kernel and released when the process ends, also after
 * kill -9.
 *
 * The lock is on the directory itself, not on a file in it: removing or replacing a file must not
 * let a second process in. The kernel identifies the directory by device and inode, so a symbolic
 * link or a bind mount leads to the same lock.
 *
 * Node has no flock. A file with a process id is no substitute: the id may belong to another process
 * by now, and in a container every venue is process 1. Nor is a socket in the abstract namespace:
 * two containers that share a volume do not share that namespace. But a flock belongs to an open
 * file description, and a child that inherits the descriptor shares it. So the `flock` program
 * (util-linux, busybox) locks the descriptor that we pass it and exits, and the lock remains until
 * our descriptor closes. Node opens files close-on-exec, so no other child keeps it. On macOS open(2)
 * takes the lock itself. Where neither exists the journal refuses to open: an unreliable lock is
 * worse than none.
 *
 * The file `lock` is locked too: older versions lock nothing else, and some network file systems
 * cannot lock a directory. There only the file protects, and it must not be removed. Its content, a
 * process id, is used only in the error message of a second process.
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { type DiskLock, isNotThere, type LockHolder, systemCode } from "./disk.js";
import { JournalError } from "./errors.js";

/** O_EXLOCK of macOS, which `fs.constants` does not list. */
const DARWIN_O_EXLOCK = 0x20;
/** The exit status of flock -n, in util-linux and busybox, when another process holds the lock. */
const HELD_ELSEWHERE = 1;
const PRIVATE_FILE = 0o600;

/** A descriptor with the lock; or no problem: another process holds it; or why locking is impossible. */
type Attempt =
  | { readonly descriptor: number }
  | { readonly descriptor: undefined; readonly problem: string | undefined };

export function lockDirectory(directory: string): DiskLock | LockHolder {
  const path = join(directory, "lock");
  const { O_RDONLY, O_RDWR, O_CREAT } = fs.constants;
  const whole = attempt(directory, O_RDONLY);
  if (whole.descriptor === undefined && whole.problem === undefined) return heldBy(path);
  const file = attempt(path, O_RDWR | O_CREAT);
  if (file.descriptor === undefined) {
    if (whole.descriptor !== undefined) fs.closeSync(whole.descriptor);
    if (file.problem === undefined) return heldBy(path);
    throw new JournalError("lock_unavailable", `cannot lock ${path}: ${file.problem}`);
  }
  const descriptors = [file.descriptor];
  if (whole.descriptor !== undefined) descriptors.push(whole.descriptor);
  fs.ftruncateSync(file.descriptor);
  fs.writeSync(file.descriptor, `${process.pid}\n`, 0);
  return { held: true, release: () => descriptors.forEach((open) => void fs.closeSync(open)) };
}

/**
 * Opens a file with an exclusive lock on it, which ends with the process or with the descriptor. Undefined:
 * another process holds it. @throws JournalError where nothing can be locked.
 */
export function openLockedFile(path: string, flags: number): number | undefined {
  const { descriptor, ...rest } = attempt(path, flags);
  if (!("problem" in rest) || rest.problem === undefined) return descriptor;
  throw new JournalError("lock_unavailable", `cannot lock ${path}: ${rest.problem}`);
}

function heldBy(path: string): LockHolder {
  try {
    return { held: false, holder: fs.readFileSync(path, "latin1").trim() };
  } catch (error) {
    if (!isNotThere(error)) throw error;
    return { held: false, holder: "" };
  }
}

function attempt(path: string, flags: number): Attempt {
  return process.platform === "darwin" ? openLocked(path, flags) : openThenLock(path, flags);
}

function openThenLock(path: string, flags: number): Attempt {
  const descriptor = fs.openSync(path, flags, PRIVATE_FILE);
  const { status, stderr, error } = spawnSync("flock", ["-n", "-x", "3"], {
    stdio: ["ignore", "ignore", "pipe", descriptor],
    encoding: "utf8",
  });
  if (status === 0) return { descriptor };
  fs.closeSync(descriptor);
  // Busybox exits with the same status, and a message, when the file system does not support locks.
  if (status === HELD_ELSEWHERE && stderr === "")
    return { descriptor: undefined, problem: undefined };
  const reason = error?.message ?? `ended with status ${status}: ${stderr.trim()}`;
  const problem = `the program \`flock\` (util-linux) is needed and ${reason}`;
  return { descriptor: undefined, problem };
}

function openLocked(path: string, flags: number): Attempt {
  const locking = flags | fs.constants.O_NONBLOCK | DARWIN_O_EXLOCK;
  try {
    return { descriptor: fs.openSync(path, locking, PRIVATE_FILE) };
  } catch (error) {
    const isHeld = systemCode(error) === "EAGAIN";
    const problem = error instanceof Error ? error.message : String(error);
    return { descriptor: undefined, problem: isHeld ? undefined : problem };
  }
}
