/** The store's tables as they are on disk: how many rows each has, and a hash over all of them. */
import { createHash } from "node:crypto";
import type { TableName } from "../history/history-environment.js";
import { openForReading, type ReadStore } from "../history/history-store.js";
import { CODECS } from "../history/row-codecs.js";
import { type Cell, type Database, prepare } from "../history/sqlite.js";

export interface TableReport {
  readonly table: TableName;
  readonly rows: number;
  /** Over all rows in the order of their keys: equal for stores of one log at the same position. */
  readonly sha256?: string;
}

export interface VerifiedTable extends TableReport {
  readonly sha256: string;
  /** Rows that the log makes; of a pruned log those that its replay could compute. */
  readonly logRows: number;
  /** The first difference. */
  readonly fault: string | null;
}

/** There is no store, or none that this release reads. */
export class StoreUnusable extends Error {
  override readonly name = "StoreUnusable";
}

/** A view of one moment, also next to a venue that writes. @throws {StoreUnusable} */
export function openStore(directory: string, logId: Uint8Array): ReadStore {
  const opened = openForReading(directory, logId);
  if (opened !== undefined && !("kind" in opened)) return opened;
  const reason = opened?.reason ?? "there is none; the next start makes it";
  throw new StoreUnusable(`the history cannot be read: ${reason}`);
}

const ROWS_PER_TURN = 65_536;

/** Lets the event loop run now and then, for progress and signals. */
export async function hashOfTable(database: Database, name: TableName): Promise<string> {
  const { from, where = "TRUE", keys, columns } = CODECS[name];
  const select = `SELECT ${[...keys, ...columns].join(", ")} FROM ${from} WHERE ${where}`;
  const hash = createHash("sha256");
  let rows = 0;
  for (const cells of prepare(database, `${select} ORDER BY ${keys.join(", ")}`).iterate()) {
    hash.update(rowBytes(cells));
    if (++rows % ROWS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return hash.digest("hex");
}

const NULL = 0;
const NUMBER = 1;
const TEXT = 2;
const BYTES = 3;

/** Each cell as its kind, its length and its content. */
function rowBytes(cells: readonly Cell[]): Buffer {
  return Buffer.concat(
    cells.flatMap((cell) => {
      if (cell === null) return [Buffer.of(NULL)];
      if (typeof cell === "number") {
        const bytes = Buffer.alloc(9, NUMBER);
        bytes.writeDoubleBE(cell, 1);
        return [bytes];
      }
      const content = typeof cell === "string" ? Buffer.from(cell, "utf8") : cell;
      const head = Buffer.alloc(5, typeof cell === "string" ? TEXT : BYTES);
      head.writeUInt32BE(content.length, 1);
      return [head, content];
    }),
  );
}
