/** The data folder: created if missing, and proven writable before anything listens. */

import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeFolder } from "./make-folder.js";
import { StartError } from "./start-error.js";

export function prepareDataFolder(path: string): string {
  const folder = resolve(path);
  try {
    makeFolder(folder);
    // Permission bits do not tell about read-only mounts or full disks; a write does.
    const probe = join(folder, `.writable-${process.pid}`);
    writeFileSync(probe, "");
    rmSync(probe);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`data folder ${folder} is not writable: ${reason}`);
  }
  return folder;
}
