/**
 * `perpgate export`: rows of a data folder (`--data`) or of a gateway, as CSV, NDJSON or Parquet.
 *
 * Without `--out` the rows go to standard output, except Parquet. A file gets its name when it is complete,
 * and none is overwritten. Progress goes to standard error.
 */

import { closeSync, existsSync, linkSync, openSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import type { CandlePrice, Resolution } from "@perpgate/protocol/core";
import {
  type ExportColumn,
  type ExportKind,
  type ExportQuery,
  type ExportRow,
  exportColumns,
  isOwn,
  openExport,
} from "@perpgate/venue";
import { isSystemError, StartError, UsageError } from "../cli/start-error.js";
import { folderError } from "../operator/folder-error.js";
import { endSteps, showStep } from "../operator/verify.js";
import { withSession, withVenue } from "../trader/connection.js";
import type { VenueCommandOptions } from "../trader/venue-command.js";
import { ownRows, publicRows } from "./gateway-rows.js";
import { KOINLY_COLUMNS, koinlyRows } from "./koinly.js";
import { type Format, writeRows } from "./row-writer.js";

interface ExportOptions extends VenueCommandOptions {
  readonly from?: number;
  readonly to?: number;
  readonly symbol?: string;
  readonly resolution?: Resolution;
  readonly price?: CandlePrice;
  readonly format?: Format;
  readonly layout?: "koinly";
  readonly out?: string;
  readonly data?: string;
  readonly account?: number;
}

export async function exportData(kind: ExportKind, options: ExportOptions): Promise<number> {
  refuseWrongUse(kind, options);
  const query: ExportQuery = {
    kind,
    fromMs: options.from ?? 0,
    toMs: options.to ?? Number.MAX_SAFE_INTEGER,
    symbol: options.symbol,
    account: options.account,
    resolution: options.resolution ?? "1m",
    price: options.price ?? "trades",
  };
  if (options.data !== undefined) return exportFolder(options.data, query, options);
  const columns = exportColumns(kind);
  if (!isOwn(kind)) {
    return withVenue(options, ({ client }) => write(columns, publicRows(client, query), options));
  }
  return withSession(options, ({ session }) => write(columns, ownRows(session, query), options));
}

function refuseWrongUse(kind: ExportKind, options: ExportOptions): void {
  const { format = "csv", layout, out, data, account, resolution, price } = options;
  if (format === "parquet" && out === undefined) throw new UsageError("parquet needs --out FILE");
  if (account !== undefined && (data === undefined || !isOwn(kind))) {
    throw new UsageError("--account is for fills, orders and ledger of a folder (--data)");
  }
  if ((resolution !== undefined || price !== undefined) && kind !== "candles") {
    throw new UsageError("--resolution and --price are for candles");
  }
  if (layout !== undefined && (kind !== "ledger" || format !== "csv")) {
    throw new UsageError("--layout is for the ledger as csv");
  }
  if (layout !== undefined && data !== undefined && account === undefined) {
    throw new UsageError("--layout needs --account with --data");
  }
}

async function exportFolder(
  data: string,
  query: ExportQuery,
  options: ExportOptions,
): Promise<number> {
  try {
    const { columns, rows, keptFromMs, close } = openExport(resolve(data), query);
    if (query.fromMs < keptFromMs) {
      const from = new Date(keptFromMs).toISOString();
      process.stderr.write(`rows before ${from} are not kept in this folder any more\n`);
    }
    try {
      return await write(columns, asynchronous(rows), options);
    } finally {
      close();
    }
  } catch (error) {
    throw folderError(error);
  }
}

async function* asynchronous(rows: Iterable<ExportRow>): AsyncGenerator<ExportRow> {
  yield* rows;
}

async function write(
  columns: readonly ExportColumn[],
  rows: AsyncIterable<ExportRow>,
  { format = "csv", layout, out }: ExportOptions,
): Promise<number> {
  const counter = { rows: 0 };
  const shown = counted(columns, rows, counter);
  const [head, body] =
    layout === undefined ? [columns, shown] : [KOINLY_COLUMNS, koinlyRows(columns, shown)];
  try {
    if (out === undefined) await writeRows(format, head, body, undefined);
    else {
      await intoFile(resolve(out), (file) => writeRows(format, head, body, file));
      process.stdout.write(`${counter.rows} rows in ${out}\n`);
    }
    return 0;
  } finally {
    endSteps();
  }
}

/** Writes next to the file, and gives it its name at the end: half a file never has it. */
async function intoFile(file: string, work: (part: string) => Promise<void>): Promise<void> {
  if (existsSync(file)) throw new StartError(`${file} exists; nothing is overwritten`);
  const part = `${file}.part`;
  try {
    // Of an export that was stopped.
    rmSync(part, { force: true });
    closeSync(openSync(part, "wx", 0o600));
    await work(part);
    linkSync(part, file);
  } catch (error) {
    throw isSystemError(error) ? new StartError(error.message) : error;
  } finally {
    rmSync(part, { force: true });
  }
}

const STEP_MS = 500;

async function* counted(
  columns: readonly ExportColumn[],
  rows: AsyncIterable<ExportRow>,
  counter: { rows: number },
): AsyncGenerator<ExportRow> {
  const time = columns.findIndex(({ name }) => name === "time_at" || name === "created_at");
  let shownAtMs = performance.now();
  for await (const row of rows) {
    counter.rows++;
    yield row;
    if (performance.now() - shownAtMs < STEP_MS) continue;
    shownAtMs = performance.now();
    showStep(`${counter.rows} rows, up to ${String(row[time])}`);
    // A generator over a folder never waits: signals and progress need a turn.
    await new Promise((resume) => setImmediate(resume));
  }
}
