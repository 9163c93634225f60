/**
 * How far the archive is, as a file of the data folder. The indexer writes it; the thread that drops old rows
 * keeps those that the archive does not have. Without the file it keeps all.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { SealedBlock } from "../blocks/block-header.js";
import { type DataFolder, dataFolder } from "../recovery/data-folder.js";
import { hasFields, isInteger, isText } from "../stored-json.js";

/**
 * How far an archive is, and in which past: logs of a venue that have the same blocks up to there have the same
 * rows, whichever core wrote them. A log that was restored, or has lost its end, parts from it.
 */
export interface ArchiveHeld {
  /** The venue's id; empty in an archive that no release has fed since it is kept. */
  readonly venue: string;
  /** Of the last command that it has. */
  readonly position: number;
  readonly batch: number;
  readonly record: number;
  /** The last block that was sealed up to there; 0: none. */
  readonly block: number;
  /** Lower-case hex. */
  readonly blockHash: string;
  /** SHA-256 of the events after that block; empty as `venue` is. */
  readonly openHash: string;
}

export const NOTHING_ARCHIVED: ArchiveHeld = {
  ...{ venue: "", position: 0, batch: 0, record: 0 },
  ...{ block: 0, blockHash: "", openHash: "" },
};

/** Replaces the file; what a crash leaves is an earlier one. */
export function noteArchived(directory: string, held: ArchiveHeld): void {
  const { archived } = dataFolder(directory);
  writeFileSync(`${archived}.new`, JSON.stringify(held), { mode: 0o600 });
  renameSync(`${archived}.new`, archived);
}

/** Notes that an archive will be fed from here, before it is known how far it is: nothing may be pruned. */
export function expectArchive(directory: string): void {
  if (!existsSync(dataFolder(directory).archived)) noteArchived(directory, NOTHING_ARCHIVED);
}

/** Undefined if it is not known, or if there is no archive. */
export function readArchived({ archived }: Pick<DataFolder, "archived">): ArchiveHeld | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(archived, "utf8"));
    return isNote(note) ? note : undefined;
  } catch {
    return undefined;
  }
}

type BlockEnd = Pick<SealedBlock, "hash" | "lastPosition">;

/**
 * The last position of which the archive certainly has the rows of a log with these blocks; 0 if it is not known
 * to be of that past. Not all that it has: of the open block only its hash would tell.
 */
export function archivedTo(
  held: ArchiveHeld | undefined,
  blockOf: (number: number) => BlockEnd | undefined,
): number {
  if (held === undefined) return 0;
  const block = blockOf(held.block);
  return block?.hash.toString("hex") === held.blockHash ? block.lastPosition : 0;
}

function isNote(value: unknown): value is ArchiveHeld {
  return hasFields(value, {
    venue: isText,
    position: isInteger,
    batch: isInteger,
    record: isInteger,
    block: isInteger,
    blockHash: isText,
    openHash: isText,
  });
}
