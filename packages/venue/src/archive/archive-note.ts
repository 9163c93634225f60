/**
 * How far the archive is, as a file of the data folder. The indexer writes it; the thread that drops old rows
 * keeps those that the archive does not have. Without the file it keeps all.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { type DataFolder, dataFolder } from "../recovery/data-folder.js";
import { hasFields, isInteger, isText } from "../stored-json.js";

interface Note {
  /** The log's id, lower-case hex. */
  readonly log: string;
  readonly position: number;
}

/** Replaces the file; what a crash leaves is an earlier one. */
export function noteArchived(directory: string, note: Note): void {
  const { archived } = dataFolder(directory);
  const { log, position } = note;
  writeFileSync(`${archived}.new`, JSON.stringify({ log, position }), { mode: 0o600 });
  renameSync(`${archived}.new`, archived);
}

/** The last command of the log that the archive has; 0 if that is not known. */
export function archivedPosition({ archived }: DataFolder, log: string): number {
  try {
    const note: unknown = JSON.parse(readFileSync(archived, "utf8"));
    return isNote(note) && note.log === log ? note.position : 0;
  } catch {
    return 0;
  }
}

function isNote(value: unknown): value is Note {
  return hasFields(value, { log: isText, position: isInteger });
}
