/**
 * The data folder: created if missing, checked for write access before the server listens, and
 * readable by the process's user alone, because it has addresses, sign-in messages and signed orders.
 */

import { chmodSync, lstatSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeFolder } from "../cli/make-folder.js";
import { reasonOf, StartError } from "../cli/start-error.js";

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
/** Permissions of everyone but the owner. */
const OTHERS = 0o077;
/** Names of a venue's files in its data folder. */
const OWN_NAME =
  /^(journal|history|history\.set-aside-.*|given-up-.*|archived\.json.*|checkpoints\.jsonl|clock\.json.*|log\.key.*|log-checkpoint.*|linked-edges.*|control\.sock|link\.sock)$/;

export function prepareDataFolder(path: string): string {
  const folder = resolve(path);
  try {
    makeFolder(folder, PRIVATE_FOLDER);
    // A write also detects read-only mounts and full disks.
    const probe = join(folder, `.writable-${process.pid}`);
    writeFileSync(probe, "", { mode: PRIVATE_FILE });
    rmSync(probe);
  } catch (error) {
    throw new StartError(`data folder ${folder} is not writable: ${reasonOf(error)}`);
  }
  return folder;
}

/**
 * Removes other users' access to the venue's files, such as those of an earlier version or a copy.
 * Returns the paths that stay accessible: files of another owner, and a data folder that contains
 * foreign files, which others may need.
 */
export function closeToOthers(folder: string): string[] {
  const open: string[] = [];
  const close = (path: string): void => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.isSymbolicLink()) return;
    if ((found.mode & OTHERS) === 0) return;
    try {
      chmodSync(path, found.isDirectory() ? PRIVATE_FOLDER : PRIVATE_FILE);
    } catch {
      open.push(path);
    }
  };
  const names = readdirSync(folder);
  for (const name of names.filter((own) => OWN_NAME.test(own))) {
    const path = join(folder, name);
    close(path);
    if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) continue;
    for (const file of readdirSync(path)) close(join(path, file));
  }
  const isShared = names.some((name) => !OWN_NAME.test(name));
  if (!isShared) close(folder);
  else if ((lstatSync(folder).mode & OTHERS) !== 0) open.push(folder);
  return open;
}
