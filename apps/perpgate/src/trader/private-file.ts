/**
 * Files with secrets: readable by their owner alone. A file that others could have read or replaced is
 * rejected. A file is replaced by a rename, so that a crash leaves the old or the new content.
 */

import { randomBytes } from "node:crypto";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../cli/make-folder.js";
import { codeOf, reasonOf, StartError } from "../cli/start-error.js";

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Permissions of anyone but the owner. */
const OTHERS = 0o077;

/** Creates it if missing; throws if others have access. */
export function preparePrivateFolder(path: string): void {
  attempt(`cannot make ${path}`, () => makeFolder(path, FOLDER_MODE));
  checkPrivateFolder(path);
}

/** Throws if others have access; a missing folder is fine. */
export function checkPrivateFolder(path: string): void {
  const stats = attempt(`cannot use ${path}`, () => statSync(path, { throwIfNoEntry: false }));
  if (stats === undefined) return;
  if (!stats.isDirectory()) throw new StartError(`${path} is not a folder`);
  checkOwner(path, stats, "700");
}

/** The text, or undefined if there is no such file. */
export function readPrivateFile(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw new StartError(`cannot read ${path}: ${reasonOf(error)}`);
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new StartError(`${path} is not a file`);
    checkOwner(path, stats, "600");
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

/** Replaces the file atomically. */
export function writePrivateFile(path: string, text: string): void {
  const draft = draftOf(path);
  attempt(`cannot write ${path}`, () => {
    try {
      writeNew(draft, text);
      renameSync(draft, path);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
  });
}

/**
 * Never overwrites: a lost key cannot be recovered. The name appears with the whole content, so that a
 * full disk or a crash leaves no empty file.
 */
export function createPrivateFile(path: string, text: string): void {
  const draft = draftOf(path);
  try {
    try {
      writeNew(draft, text);
      linkOrWrite(draft, path, text);
    } finally {
      rmSync(draft, { force: true });
    }
    syncFolder(dirname(path));
  } catch (error) {
    if (codeOf(error) === "EEXIST") {
      throw new StartError(`${path} exists already and is not overwritten; choose another name`);
    }
    throw new StartError(`cannot write ${path}: ${reasonOf(error)}`);
  }
}

/** Opens for appending and reading; creates it if missing. */
export function openPrivateLedger(path: string): number {
  return attempt(`cannot open ${path}`, () => {
    const file = openSync(path, "a+", FILE_MODE);
    checkOwner(path, fstatSync(file), "600");
    return file;
  });
}

function draftOf(path: string): string {
  return `${path}.${randomBytes(6).toString("hex")}.new`;
}

/** What file systems without hard links answer. */
const NO_LINKS: ReadonlySet<unknown> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

function linkOrWrite(draft: string, path: string, text: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!NO_LINKS.has(codeOf(error))) throw error;
    writeNew(path, text);
  }
}

/** The file exists with its content: a folder that cannot be synced is no reason to say otherwise. */
function syncFolder(path: string): void {
  try {
    const folder = openSync(path, "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // Windows, for one, cannot sync a folder.
  }
}

function writeNew(path: string, text: string): void {
  const file = openSync(path, "wx", FILE_MODE);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

function checkOwner(path: string, { mode, uid }: Stats, wanted: string): void {
  // Windows has no permission bits.
  if (process.platform === "win32") return;
  if ((mode & OTHERS) !== 0) {
    const found = (mode & 0o777).toString(8).padStart(3, "0");
    throw new StartError(
      `others may use ${path} (mode ${found}), and it holds keys: chmod ${wanted} ${path}`,
    );
  }
  if (process.getuid !== undefined && uid !== process.getuid()) {
    throw new StartError(`${path} belongs to another user, and it holds keys`);
  }
}

function attempt<T>(problem: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${problem}: ${reasonOf(error)}`);
  }
}
