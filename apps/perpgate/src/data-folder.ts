/** The data folder: created if missing, and proven writable before anything listens. */

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { StartError } from "./start-error.js";

export function prepareDataFolder(path: string): string {
  const folder = resolve(path);
  try {
    mkdirSync(folder, { recursive: true });
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
