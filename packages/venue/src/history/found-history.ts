/**
 * A history as a start finds it: opened, but not yet known to fit the log. Its header row (log id,
 * format, progress) is read before the log is repaired, because a history that is ahead of its log
 * proves that the log has lost its end.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { decodeBlock, type SealedBlock } from "../blocks/block-header.js";
import {
  type HeldRow,
  openEnvironment,
  type RowFault,
  readHeldRow,
} from "./history-environment.js";
import {
  type Database,
  isDamage,
  prepare,
  STORE_FILE,
  sqliteCode,
  storeFailure,
} from "./sqlite.js";

/** The file of releases up to 0.2. */
const LMDB_FILE = "data.mdb";
const SQL_ERROR = 1;

export class FoundHistory {
  private constructor(
    readonly directory: string,
    /** Undefined where there is no history, or none that can be opened. */
    readonly environment: Database | undefined,
    readonly row: HeldRow | undefined,
    /** Why it cannot be used. */
    readonly fault: RowFault | undefined,
  ) {}

  /** @throws if the system refuses to open it now, which shows nothing about its content. */
  static find(directory: string): FoundHistory {
    const unusable = (fault: RowFault | undefined) =>
      new FoundHistory(directory, undefined, undefined, fault);
    if (!existsSync(join(directory, STORE_FILE))) {
      const reason = "it is of an earlier release";
      const isEarlier = existsSync(join(directory, LMDB_FILE));
      return unusable(isEarlier ? { kind: "other_format", reason } : undefined);
    }
    let environment: Database | undefined;
    try {
      // Read-only: a start that is refused leaves the file as it is.
      environment = openEnvironment(directory, true);
      const row = readHeldRow(environment);
      if (row !== undefined) return new FoundHistory(directory, environment, row, undefined);
      environment.close();
      return unusable({ kind: "damaged", reason: "its header row is missing or unreadable" });
    } catch (error) {
      environment?.close();
      return unusable({ kind: "damaged", reason: damageIn(error, directory) });
    }
  }

  /** A sealed block; undefined if it does not have it. */
  block(number: number): SealedBlock | undefined {
    if (this.environment === undefined) return undefined;
    const sql = "SELECT header FROM block_rows WHERE number = ?";
    const [header] = prepare(this.environment, sql).get(number) ?? [];
    return header instanceof Uint8Array ? decodeBlock(Buffer.from(header)) : undefined;
  }

  close(): void {
    if (this.environment?.isOpen === true) this.environment.close();
  }
}

/** What an error says about the content of a store. @throws the error if it says nothing about it. */
export function damageIn(error: unknown, directory: string): string {
  // A missing table is an SQL error.
  if (!isDamage(error) && sqliteCode(error) !== SQL_ERROR) throw storeFailure(directory, error);
  return `it cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}
