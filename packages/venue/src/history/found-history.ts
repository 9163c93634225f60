/**
 * A history as a start finds it: opened, and not yet known to fit the log. What it says of itself
 * (the log, the format, how far it has come) is read before the log is repaired, since a history
 * that is ahead of its log proves that the log has lost its end.
 *
 * lmdb maps the file into memory, so a damaged one can end the process when it is opened or when a
 * damaged page is read. What can be told from outside is looked at first (lmdb-file.ts). For the
 * rest a marker file counts the starts that have not come back: it is written before the file is
 * opened and removed once the log has been replayed into it. One such start may have been killed;
 * after two the history is taken for damaged.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Environment,
  type HeldRow,
  openEnvironment,
  readHeldRow,
} from "./history-environment.js";
import { lmdbFileFault } from "./lmdb-file.js";
import { proveWritable } from "./thread/disk-probe.js";

const MARKER = "opening";
const MOST_LOST_STARTS = 2;

export class FoundHistory {
  private constructor(
    readonly directory: string,
    /** Undefined where there is no history, or none that can be opened. */
    readonly environment: Environment | undefined,
    readonly row: HeldRow | undefined,
    /** Why it cannot be used. */
    readonly fault: string | undefined,
  ) {}

  static async find(directory: string): Promise<FoundHistory> {
    const file = join(directory, "data.mdb");
    const lost = lostStarts(directory);
    const unusable = (fault: string | undefined) =>
      new FoundHistory(directory, undefined, undefined, fault);
    if (lost >= MOST_LOST_STARTS) return unusable("the last starts that opened it did not return");
    if (!existsSync(file)) return unusable(undefined);
    // Before the marker: a disk that refuses writes says nothing about the history.
    proveWritable(directory);
    writeFileSync(join(directory, MARKER), String(lost + 1), { mode: 0o600 });
    let environment: Environment | undefined;
    try {
      const fault = lmdbFileFault(file);
      if (fault !== null) return unusable(fault);
      environment = openEnvironment(directory, false);
      const row = readHeldRow(environment);
      if (row !== undefined) return new FoundHistory(directory, environment, row, undefined);
      await environment.close();
      return unusable("it does not say what it holds");
    } catch (error) {
      await environment?.close();
      return unusable(`it cannot be opened: ${error instanceof Error ? error.message : error}`);
    }
  }

  /** Whether there is a folder, usable or not. */
  get isThere(): boolean {
    return existsSync(this.directory);
  }

  get marker(): string {
    return join(this.directory, MARKER);
  }

  /** It was opened and read, and the process is still there. */
  settle(): void {
    rmSync(this.marker, { force: true });
  }

  async close(): Promise<void> {
    await this.environment?.close();
    // What the marker of earlier starts says stays: this one did not open the file.
    if (this.fault === undefined) this.settle();
  }
}

/** Starts that opened the history and did not come back. Earlier releases wrote no number. */
function lostStarts(directory: string): number {
  const marker = join(directory, MARKER);
  if (!existsSync(marker)) return 0;
  const count = Number.parseInt(readFileSync(marker, "utf8"), 10);
  return Number.isSafeInteger(count) ? count : MOST_LOST_STARTS;
}
