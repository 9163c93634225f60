/**
 * A history as a start finds it: opened, but not yet known to fit the log. Its header row (log id,
 * format, progress) is read before the log is repaired, because a history that is ahead of its log
 * proves that the log has lost its end.
 *
 * lmdb maps the file into memory, so a damaged file can crash the process when it is opened or when a
 * damaged page is read. lmdb-file.ts checks what can be checked before. For the rest a marker file
 * counts the starts that did not finish: it is written before the file is opened and removed after the
 * log was replayed. One unfinished start may have been killed; after two the history counts as damaged.
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
const MAX_UNFINISHED_STARTS = 2;

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
    const unfinished = unfinishedStarts(directory);
    const unusable = (fault: string | undefined) =>
      new FoundHistory(directory, undefined, undefined, fault);
    if (unfinished >= MAX_UNFINISHED_STARTS)
      return unusable("the last starts that opened it did not return");
    if (!existsSync(file)) return unusable(undefined);
    // Before the marker: a disk that refuses writes must not count against the history.
    proveWritable(directory);
    writeFileSync(join(directory, MARKER), String(unfinished + 1), { mode: 0o600 });
    let environment: Environment | undefined;
    try {
      const fault = lmdbFileFault(file);
      if (fault !== null) return unusable(fault);
      environment = openEnvironment(directory, false);
      const row = readHeldRow(environment);
      if (row !== undefined) return new FoundHistory(directory, environment, row, undefined);
      await environment.close();
      return unusable("its header row is missing or unreadable");
    } catch (error) {
      await environment?.close();
      return unusable(`it cannot be opened: ${error instanceof Error ? error.message : error}`);
    }
  }

  /** Whether the folder exists, usable or not. */
  get isThere(): boolean {
    return existsSync(this.directory);
  }

  get marker(): string {
    return join(this.directory, MARKER);
  }

  /** Removes the marker: the file was opened and read without a crash. */
  settle(): void {
    rmSync(this.marker, { force: true });
  }

  async close(): Promise<void> {
    await this.environment?.close();
    // If this start did not open the file, the count of earlier starts stays.
    if (this.fault === undefined) this.settle();
  }
}

/** Starts that opened the history and did not finish. Earlier releases wrote no number. */
function unfinishedStarts(directory: string): number {
  const marker = join(directory, MARKER);
  if (!existsSync(marker)) return 0;
  const count = Number.parseInt(readFileSync(marker, "utf8"), 10);
  return Number.isSafeInteger(count) ? count : MAX_UNFINISHED_STARTS;
}
