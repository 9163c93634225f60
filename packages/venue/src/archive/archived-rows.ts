/**
 * Rows of the lists of the past from an archive, which has the store's tables: the same pages in the same order,
 * decoded like the store's.
 */
import type { Place } from "../history/history-table.js";
import { keyOf } from "../history/keys.js";
import { PAGING, type PagedName } from "../history/paged-tables.js";
import { CODECS } from "../history/row-codecs.js";
import {
  LAST,
  type PlacedRow,
  placeAfter,
  placedRow,
  type RowPageQuery,
} from "../history/row-pages.js";
import type { Cell } from "../history/sqlite.js";

/** Runs SQL that reads. Rows are arrays, and integers numbers; rejects if there is no answer in time. */
export type ArchiveQuery = (sql: string) => Promise<readonly (readonly Cell[])[]>;

/** The archive does not have the log as far as the store needs it. */
class ArchiveBehind extends Error {
  override readonly name = "ArchiveBehind";
}

const FIRST: Place = { seq: 0, ordinal: 0 };
const TIMES: Readonly<Record<PagedName, string>> = {
  fills: "time",
  trades: "time",
  orders: "created",
  payments: "time",
  ledger: "time",
};

export class ArchivedRows {
  constructor(
    private readonly query: ArchiveQuery,
    /** Of the log, lower-case hex. */
    private readonly logId: string,
  ) {}

  /** @throws {ArchiveBehind} unless the archive has all commands up to `position`. */
  async need(position: number): Promise<void> {
    const [[log, held] = []] = await this.query("SELECT log, position FROM archive");
    if (log !== this.logId) throw new ArchiveBehind("the archive is of another log");
    if (Number(held) >= position) return;
    throw new ArchiveBehind(`the archive ends at position ${held}, before ${position}`);
  }

  /** The rows of the groups, merged. */
  async page(
    name: PagedName,
    groups: readonly number[],
    { limit, after, before = LAST, fromMs, toMs }: RowPageQuery,
  ): Promise<PlacedRow[]> {
    const from = after === undefined ? FIRST : placeAfter(after);
    const isAscending = after !== undefined;
    const { keys } = CODECS[name];
    const order = keys.map((key) => `${key} ${isAscending ? "ASC" : "DESC"}`).join(", ");
    const reads = groups.map((group) => {
      const range = `${tupleOf(name, group, from)} <= (${keys.join(", ")})
        AND (${keys.join(", ")}) < ${tupleOf(name, group, before)}`;
      const times = [
        ...(fromMs === undefined ? [] : [` AND ${TIMES[name]} >= ${fromMs}`]),
        ...(toMs === undefined ? [] : [` AND ${TIMES[name]} < ${toMs}`]),
      ].join("");
      return `(${selectOf(name)} WHERE ${range}${times} ORDER BY ${order} LIMIT ${limit})`;
    });
    if (reads.length === 0 || limit === 0) return [];
    const rows = await this.rowsOf(name, reads.join(" UNION ALL "));
    const byPlace = (a: Place, b: Place) => a.seq - b.seq || a.ordinal - b.ordinal;
    rows.sort(isAscending ? byPlace : (a, b) => byPlace(b, a));
    return rows.slice(0, limit);
  }

  /** An order of the account. */
  async order(account: number, id: number): Promise<PlacedRow | undefined> {
    const where = `id = ${id} AND account = ${account}`;
    const [row] = await this.rowsOf("orders", `${selectOf("orders")} WHERE ${where}`);
    return row;
  }

  private async rowsOf(name: PagedName, sql: string): Promise<PlacedRow[]> {
    const rows = await this.query(sql);
    return rows.map((cells) => placedRow(CODECS[name].entry(cells), name, PAGING[name].lengths));
  }
}

function selectOf(name: PagedName): string {
  const { keys, columns, from } = CODECS[name];
  return `SELECT ${[...keys, ...columns].join(", ")} FROM ${from}`;
}

/** The key of a place in a group. */
function tupleOf(name: PagedName, group: number, { seq, ordinal }: Place): string {
  return `(${CODECS[name].keyCells(keyOf(group, seq, ordinal)).join(", ")})`;
}
