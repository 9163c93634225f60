/**
 * Makes a folder and those above it that are missing, one after the other. Node's own `recursive`
 * never returns where the system says that a folder cannot be made because its parent, which is
 * there, is not: below `/proc`, and on some network mounts.
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
    // Somebody else may have made it meanwhile.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}
