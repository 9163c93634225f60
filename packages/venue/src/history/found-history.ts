/**
 * A history as a start finds it: opened, but not yet known to fit the log. Its header row (log id,
 * format, progress) is read before the log is repaired, because a history that is ahead of its log
 * proves that the log has lost its end.
 *
 * lmdb maps the file into memory, so a damaged file can crash the process when it is opened or when a
 * damaged page is read. lmdb-file.ts checks what can be checked before. For the rest a marker file
 * counts the starts that did not finish: it is written before the file is opened and removed after the
 * log was replayed. It also has the history's position, because a start that advanced the history has
 * read and written it: such a start was killed, and does not count. One that did not advance it may
 * have been killed as well; after two of them in a row the history counts as damaged.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
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

/** The content of the marker file: two numbers. */
interface Mark {
  /** Unfinished starts that did not advance the history. */
  readonly starts: number;
  /** The history's position when they were counted; undefined if it could not be read. */
  readonly position: number | undefined;
}

export class FoundHistory {
  /** The position that shows, once the history is past it, that this start advanced it. */
  private countedAt = Number.POSITIVE_INFINITY;

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
    const earlier = readMark(directory);
    const unusable = (fault: string | undefined) =>
      new FoundHistory(directory, undefined, undefined, fault);
    if (earlier.starts >= MAX_UNFINISHED_STARTS)
      return unusable("the last starts that opened it did not return");
    if (!existsSync(file)) return unusable(undefined);
    // Before the marker: a disk that refuses writes must not count against the history.
    proveWritable(directory);
    const starts = earlier.starts + 1;
    writeMark(directory, { starts, position: earlier.position });
    let environment: Environment | undefined;
    try {
      const fault = lmdbFileFault(file);
      if (fault !== null) return unusable(fault);
      environment = openEnvironment(directory, false);
      const row = readHeldRow(environment);
      if (row !== undefined) {
        const found = new FoundHistory(directory, environment, row, undefined);
        found.count(starts, earlier.position, row.position);
        return found;
      }
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

  /** More is on disk. The first time, this start and those before it no longer count. */
  onDurable(position: number): void {
    if (position <= this.countedAt) return;
    this.countedAt = Number.POSITIVE_INFINITY;
    writeMark(this.directory, { starts: 0, position });
  }

  /** Removes the marker: the file was opened and read without a crash. */
  settle(): void {
    this.countedAt = Number.POSITIVE_INFINITY;
    rmSync(this.marker, { force: true });
  }

  async close(): Promise<void> {
    await this.environment?.close();
    // If this start did not open the file, the count of earlier starts stays.
    if (this.fault === undefined) this.settle();
  }

  /** The last start may have advanced the history without recording it: then this is the first. */
  private count(starts: number, before: number | undefined, position: number): void {
    const isAdvanced = before !== undefined && before !== position;
    writeMark(this.directory, { starts: isAdvanced ? 1 : starts, position });
    this.countedAt = position;
  }
}

/** Earlier releases wrote no position, and before that no number. */
function readMark(directory: string): Mark {
  const marker = join(directory, MARKER);
  if (!existsSync(marker)) return { starts: 0, position: undefined };
  const [starts = Number.NaN, position] = readFileSync(marker, "utf8")
    .split(" ")
    .map((text) => Number.parseInt(text, 10));
  return {
    starts: Number.isSafeInteger(starts) ? starts : MAX_UNFINISHED_STARTS,
    position: Number.isSafeInteger(position) ? position : undefined,
  };
}

/** Renamed into place: a kill must not leave an empty file, which would count as two starts. */
function writeMark(directory: string, { starts, position }: Mark): void {
  const marker = join(directory, MARKER);
  writeFileSync(`${marker}.new`, `${starts} ${position ?? ""}`, { mode: 0o600 });
  renameSync(`${marker}.new`, marker);
}
