/** `node:sqlite`, as far as the store uses it, and how every thread and process opens the store's file. */
import { closeSync, openSync } from "node:fs";
import { createRequire } from "node:module";

export type Cell = number | string | Uint8Array | null;

export interface Statement {
  run(...cells: readonly Cell[]): { readonly changes: number | bigint };
  get(...cells: readonly Cell[]): readonly Cell[] | undefined;
  all(...cells: readonly Cell[]): (readonly Cell[])[];
  /** Reads as far as the caller does; memory holds one row. */
  iterate(...cells: readonly Cell[]): IterableIterator<readonly Cell[]>;
  setReturnArrays(isArray: boolean): void;
}

export interface Database {
  readonly isOpen: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

interface Sqlite {
  readonly DatabaseSync: new (
    path: string,
    options: { readonly readOnly: boolean; readonly timeout: number },
  ) => Database;
}

// Not `import`: bundlers and the types of older releases of Node do not know it.
const { DatabaseSync }: Sqlite = createRequire(import.meta.url)("node:sqlite");

/** The file within the history's folder; `-wal` and `-shm` are next to it while it is open. */
export const STORE_FILE = "history.sqlite";

const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;
/**
 * How long a statement waits for a lock of another tool before it fails with `SQLITE_BUSY`. Readers need
 * none but for a moment, when another process recovers the write-ahead file.
 */
const LOCK_WAIT_MS = 200;
const READ_WAIT_MS = 10;
/** Pages of the write-ahead file at which a commit moves them into the file: 16 MiB. */
const CHECKPOINT_PAGES = 4_096;

export function openDatabase(file: string, readOnly: boolean): Database {
  const timeout = readOnly ? READ_WAIT_MS : LOCK_WAIT_MS;
  const database = new DatabaseSync(file, { readOnly, timeout });
  try {
    if (!readOnly) {
      // FULL: a committed transaction is on disk, and the log may be pruned up to it.
      database.exec(
        `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;
         PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
      );
    } else database.exec("PRAGMA cache_size = -16384");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** An empty file that only its owner reads; SQLite gives the files next to it the same permissions. */
export function createPrivate(file: string): void {
  closeSync(openSync(file, "wx", 0o600));
}

/** A statement whose rows are arrays. */
export function prepare(database: Database, sql: string): Statement {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** Runs `work` in a write transaction. */
export function inTransaction(database: Database, work: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    work();
    database.exec("COMMIT");
  } catch (error) {
    try {
      database.exec("ROLLBACK");
    } catch {
      // A failed COMMIT may have rolled back already.
    }
    throw error;
  }
}

/** Whether another tool holds a lock; the same call may succeed later. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === BUSY || code === LOCKED;
}

/** Whether the error shows damage of the file, and not of the disk or the system. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === CORRUPT || code === NOT_A_DATABASE;
}

/** What SQLite says about the system, as a system error that names the file. */
export function storeFailure(file: string, error: unknown): unknown {
  const code = sqliteCode(error);
  if (code === undefined) return error;
  const refusal = new Error(
    `cannot use ${file}: ${error instanceof Error ? error.message : String(error)}`,
    { cause: error },
  );
  return Object.assign(refusal, { code, syscall: "sqlite" });
}

/** SQLite's primary result code; undefined for other errors. */
export function sqliteCode(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}
