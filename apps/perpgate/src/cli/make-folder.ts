/**
 * Creates a folder and its missing parents, one after the other. Node's `recursive` option never
 * returns where mkdir fails with ENOENT although the parent exists: below `/proc`, and on some network
 * mounts.
 */

import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

export function makeFolder(path: string, mode = 0o777): void {
  const folder = resolve(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const above = dirname(folder);
  if (above !== folder) makeFolder(above, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have created it.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}
