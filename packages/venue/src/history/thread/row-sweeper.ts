/**
 * Drops the rows before the window (retention.ts) a few at a time, within the transactions of the writing
 * thread. Pages that get free are used for later rows.
 *
 * A pass goes through the tables in order. Tables by account have no index by seq, which would be a tenth of
 * their size: the pass goes from group to group and drops the first rows of each.
 */
import { STATUS_PENDING, STATUS_RESTING } from "@perpgate/engine";
import type { HistoryEdge } from "../retention.js";
import { type Cell, type Database, prepare, type Statement } from "../sqlite.js";

/** Rows that one statement drops, about. */
const CHUNK = 64;

/** One table of a pass. */
interface SweptTable {
  /** Drops about `CHUNK` rows; returns their number, or undefined if there are no more. */
  step(edge: HistoryEdge): number | undefined;
  /** The next step is the first one of a pass. */
  begin(): void;
}

export class RowSweeper {
  private readonly tables: readonly SweptTable[];
  /** The table that the pass is in. */
  private at = 0;
  private pass: HistoryEdge | undefined;
  /** Rows before this seq are dropped. */
  sweptTo = 1;

  constructor(database: Database) {
    this.tables = [
      new EndedOrders(database),
      new RowsOfGroups(database, "fill_rows", ["account", "market"]),
      new RowsOfGroups(database, "trade_rows", ["market"]),
      new RowsOfGroups(database, "payment_rows", ["account", "market"]),
      new RowsOfGroups(database, "ledger_rows", ["account", "market"]),
      new RowsOfGroups(database, "ack_rows", []),
      new RowsOfGroups(database, "result_rows", []),
    ];
  }

  /** Whether rows before the edge may be left. */
  isBehind({ keptFrom }: HistoryEdge): boolean {
    return this.sweptTo < keptFrom;
  }

  /** Drops about `rows` rows, or looks into as many groups. Must be called within a transaction. */
  step(edge: HistoryEdge, rows: number, pause: () => void): void {
    for (let left = rows; left > 0 && this.isBehind(edge); pause()) {
      this.pass ??= edge;
      const dropped = this.tables[this.at]!.step(this.pass);
      left -= 1 + (dropped ?? 0);
      if (dropped === undefined) this.nextTable(this.pass);
    }
  }

  /** What the last steps dropped was not committed. */
  restart(): void {
    this.pass = undefined;
    this.sweptTo = 1;
    this.at = 0;
    for (const table of this.tables) table.begin();
  }

  private nextTable({ keptFrom }: HistoryEdge): void {
    this.tables[this.at]!.begin();
    this.at = (this.at + 1) % this.tables.length;
    if (this.at > 0) return;
    this.sweptTo = keptFrom;
    this.pass = undefined;
  }
}

/** Rows with a key of a group, of no columns where all are one, and then a seq. */
class RowsOfGroups implements SweptTable {
  private readonly next: Statement | undefined;
  private readonly lastOfChunk: Statement;
  private readonly drop: Statement;
  /** The group that the pass is in; whether it is done with it, or has not begun. */
  private group: readonly Cell[] = [];
  private isDone = true;
  private isBegun = false;

  constructor(
    database: Database,
    table: string,
    private readonly names: readonly string[],
  ) {
    const list = names.join(", ");
    const own = names.map((name) => `${name} = ? AND `).join("");
    if (names.length > 0) {
      const marks = names.map(() => "?").join(", ");
      const later = names.length > 1 ? `(${list}) > (${marks})` : `${list} > ?`;
      const sql = `SELECT ${list} FROM ${table} WHERE ${later} ORDER BY ${list} LIMIT 1`;
      this.next = prepare(database, sql);
    }
    this.lastOfChunk = prepare(
      database,
      `SELECT seq FROM ${table} WHERE ${own}seq < ? ORDER BY seq LIMIT 1 OFFSET ${CHUNK - 1}`,
    );
    this.drop = prepare(database, `DELETE FROM ${table} WHERE ${own}seq < ?`);
    this.begin();
  }

  begin(): void {
    this.group = this.names.map(() => -1);
    this.isDone = true;
    this.isBegun = false;
  }

  step({ keptFrom }: HistoryEdge): number | undefined {
    if (this.isDone) {
      const following = this.following();
      if (following === undefined) return undefined;
      this.group = following;
    }
    const [last] = this.lastOfChunk.get(...this.group, keptFrom) ?? [];
    // All rows of a command, which may be more.
    const until = typeof last === "number" ? last + 1 : keptFrom;
    this.isDone = until >= keptFrom;
    return Number(this.drop.run(...this.group, until).changes);
  }

  private following(): readonly Cell[] | undefined {
    if (this.next !== undefined) return this.next.get(...this.group);
    const isFirst = !this.isBegun;
    this.isBegun = true;
    return isFirst ? [] : undefined;
  }
}

const IS_OVER = `status NOT IN (${STATUS_RESTING}, ${STATUS_PENDING}) AND created + updated_after < ?`;

/** Orders that have ended before the window. Those that stay are read again by each pass. */
class EndedOrders implements SweptTable {
  private readonly nextChunk: Statement;
  private readonly drop: Statement;
  private from = 0;

  constructor(database: Database) {
    const rows = "id >= ? AND id < ?";
    const ids = `SELECT id FROM order_rows WHERE ${rows} ORDER BY id`;
    this.nextChunk = prepare(database, `${ids} LIMIT 1 OFFSET ${CHUNK}`);
    this.drop = prepare(database, `DELETE FROM order_rows WHERE ${rows} AND ${IS_OVER}`);
  }

  begin(): void {
    this.from = 0;
  }

  step({ keptFrom, keptFromMs }: HistoryEdge): number | undefined {
    const { from } = this;
    if (from >= keptFrom) return undefined;
    const [next] = this.nextChunk.get(from, keptFrom) ?? [];
    this.from = typeof next === "number" ? next : keptFrom;
    this.drop.run(from, this.from, keptFromMs);
    return CHUNK;
  }
}
