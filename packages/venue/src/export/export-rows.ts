/**
 * Rows of a folder's store, in the order in which they happened, read from one moment and one after the other
 * through the views, whose names and units stay. A venue may run; until the last row is read its write-ahead
 * file grows.
 */
import { JournalDamaged } from "@perpgate/journal";
import type { CandlePrice, Resolution } from "@perpgate/protocol/core";
import type { ReadStore } from "../history/history-store.js";
import { AT_FILL, FILL_STEP } from "../history/ledger-projection.js";
import { type Cell, type Database, prepare } from "../history/sqlite.js";
import { dataFolder } from "../recovery/data-folder.js";
import { inspectStart } from "../verify/starting-point.js";
import { openStore } from "../verify/stored-tables.js";
import {
  type ExportColumn,
  type ExportKind,
  type ExportRow,
  exportColumns,
  isOwn,
} from "./export-layout.js";

export interface ExportQuery {
  readonly kind: ExportKind;
  /** fromMs ≤ time < toMs. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly symbol?: string | undefined;
  /** Of fills, orders and the ledger; all accounts without it. */
  readonly account?: number | undefined;
  /** Of candles. */
  readonly resolution: Resolution;
  readonly price: CandlePrice;
}

/** The ledger of an account is its fills, payments of funding and other entries (ledger-reader.ts). */
const LEDGER = `SELECT account, symbol, position, ordinal * ${FILL_STEP} + ${AT_FILL} AS place,
    CASE WHEN kind = 'order' THEN 'pnl' WHEN kind = 'adl' AND role = 'maker' THEN 'adl'
      ELSE 'liquidation' END AS kind,
    pnl_usd AS amount_usd, round(balance_usd + fee_usd, 6) AS balance_usd,
    position || '-' || ordinal AS reference, time_ms, time_at
  FROM fills WHERE pnl_usd <> 0 OR (fee_usd = 0 AND kind <> 'order')
  UNION ALL SELECT account, symbol, position, ordinal * ${FILL_STEP} + ${AT_FILL} + 1, 'fee',
    0 - fee_usd, balance_usd, position || '-' || ordinal, time_ms, time_at
  FROM fills WHERE fee_usd <> 0 OR (pnl_usd = 0 AND kind = 'order')
  UNION ALL SELECT account, symbol, position, ordinal, 'funding', amount_usd, balance_usd,
    CAST(position AS TEXT), time_ms, time_at FROM funding_payments
  UNION ALL SELECT account, symbol, position, ordinal, kind, amount_usd, balance_usd,
    CAST(CASE kind WHEN 'deposit' THEN detail ELSE position END AS TEXT), time_ms, time_at
  FROM ledger`;

const ID = "position || '-' || ordinal AS id";

function sourceOf({ kind, price }: ExportQuery): { from: string; order: string; time?: string } {
  switch (kind) {
    case "trades":
      return { from: `SELECT *, ${ID} FROM trades`, order: "position, ordinal" };
    case "candles":
      return price === "trades"
        ? { from: "SELECT * FROM candles", order: "time_ms" }
        : {
            from: `SELECT *, 0.0 AS volume, 0 AS trades FROM price_candles WHERE price_of = '${price}'`,
            order: "time_ms",
          };
    case "funding":
      return { from: "SELECT * FROM funding", order: "time_ms" };
    case "fills":
      return { from: `SELECT *, ${ID} FROM fills`, order: "position, ordinal" };
    case "orders":
      return { from: "SELECT * FROM orders", order: "CAST(order_id AS REAL)", time: "created_ms" };
    case "ledger":
      return {
        from: `SELECT *, position || '-' || place AS id FROM (${LEDGER})`,
        order: "position, place",
      };
  }
}

export interface OpenExport {
  readonly columns: readonly ExportColumn[];
  readonly rows: Iterable<ExportRow>;
  /** The store has no such rows of times before; 0: it has all. */
  readonly keptFromMs: number;
  close(): void;
}

/** What a folder's store has to export. */
export interface ExportSpan {
  /** In the order of their listing. */
  readonly symbols: readonly string[];
  /** Of the first sealed block, and of the last: rows before the last one's time are complete. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Trades before this time are not kept; 0: all are. */
  readonly keptFromMs: number;
}

/** @throws {StoreUnusable} */
export function exportSpan(directory: string): ExportSpan {
  const store = storeOf(directory);
  try {
    const { environment, held } = store;
    const timeOf = (which: string) => {
      const sql = `SELECT time FROM block_rows ORDER BY number ${which} LIMIT 1`;
      return Number(prepare(environment, sql).get()?.[0] ?? 0);
    };
    const span = { fromMs: timeOf("ASC"), toMs: timeOf("DESC"), keptFromMs: held.keptFromMs };
    return { symbols: symbolsOf(environment), ...span };
  } finally {
    store.close();
  }
}

function storeOf(directory: string): ReadStore {
  const folder = dataFolder(directory);
  const log = inspectStart(folder.journal);
  if (log instanceof JournalDamaged) throw log;
  return openStore(folder.history, log.logId);
}

function symbolsOf(database: Database): string[] {
  return prepare(database, "SELECT symbol FROM markets ORDER BY market").all().flat().map(String);
}

/** The first sealed block with that time or a later one; undefined: none. */
function firstBlockFrom(database: Database, timeMs: number): readonly Cell[] | undefined {
  const [newest = 0] = prepare(database, "SELECT max(number) FROM block_rows").get() ?? [];
  const block = prepare(database, "SELECT first, last, time FROM block_rows WHERE number = ?");
  let found: readonly Cell[] | undefined;
  for (let [low, high] = [1, Number(newest)]; low <= high; ) {
    const middle = Math.floor((low + high) / 2);
    const cells = block.get(middle);
    if (cells === undefined || Number(cells[2]) < timeMs) low = middle + 1;
    else {
      found = cells;
      high = middle - 1;
    }
  }
  return found;
}

/** @throws {StoreUnusable} */
export function openExport(directory: string, query: ExportQuery): OpenExport {
  const store = storeOf(directory);
  const columns = exportColumns(query.kind, isOwn(query.kind) && query.account === undefined);
  const isWindowed = query.kind !== "candles" && query.kind !== "funding";
  const keptFromMs = isWindowed ? store.held.keptFromMs : 0;
  // Some of the rows before may be there still.
  const fromMs = Math.max(query.fromMs, keptFromMs);
  const rows = rowsOf(store.environment, { ...query, fromMs }, columns);
  return { columns, rows, keptFromMs, close: () => store.close() };
}

/** Public data market by market, in the order of their listing; an account's over all markets. */
function* rowsOf(
  database: Database,
  query: ExportQuery,
  columns: readonly ExportColumn[],
): Generator<ExportRow> {
  const { kind, fromMs, toMs, symbol, account, resolution } = query;
  const { from, order, time = "time_ms" } = sourceOf(query);
  // Rows of trades are found by position, not by time.
  const first = kind === "trades" ? firstBlockFrom(database, fromMs)?.[0] : undefined;
  const last = kind === "trades" ? firstBlockFrom(database, toMs)?.[1] : undefined;
  for (const market of isOwn(kind) ? [symbol] : symbolsOf(database)) {
    if (symbol !== undefined && market !== symbol) continue;
    const values: Cell[] = [fromMs, toMs];
    let where = `${time} >= ? AND ${time} < ?`;
    const only = (column: string, value: Cell | undefined, is = "=") => {
      if (value === undefined) return;
      where += ` AND ${column} ${is} ?`;
      values.push(value);
    };
    only("position", first, ">=");
    only("position", last, "<=");
    only("symbol", market);
    only("account", isOwn(kind) ? account : undefined);
    only("resolution", kind === "candles" ? resolution : undefined);
    const names = columns.map(({ name }) => name).join(", ");
    const sql = `SELECT ${names} FROM (${from}) WHERE ${where} ORDER BY ${order}`;
    for (const cells of prepare(database, sql).iterate(...values)) yield rowOf(cells, columns);
  }
}

function rowOf(cells: readonly Cell[], columns: readonly ExportColumn[]): ExportRow {
  return cells.map((cell, i) => {
    if (cell instanceof Uint8Array) throw new TypeError(`${columns[i]?.name} holds bytes`);
    return columns[i]?.type === "boolean" ? cell === 1 : cell;
  });
}
