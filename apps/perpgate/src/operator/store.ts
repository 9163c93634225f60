/**
 * `perpgate store status` and `verify`: what the history of a data folder has, and whether each of its
 * tables is what the log makes. Both change nothing and may run while the venue does.
 *
 * `verify` exits with 0 if every table agrees, otherwise with 1; progress goes to standard error.
 */

import {
  type StoreReport,
  type StoreStatus,
  storeStatus,
  type TableReport,
  type VerifiedTable,
  verifyStore,
} from "@perpgate/venue";
import { Output } from "../cli/output.js";
import type { Column } from "../cli/table.js";
import { dataFolderOf } from "./data-option.js";
import { folderError } from "./folder-error.js";
import { endSteps, showProgress } from "./verify.js";

interface StoreOptions {
  readonly data?: string;
  readonly json?: boolean;
  readonly hashes?: boolean;
}

export async function storeStatusCommand(options: StoreOptions): Promise<number> {
  const { hashes = false, json: isJson = false } = options;
  const found = await withReason(() => storeStatus(dataFolderOf(options), { hashes }));
  const output = new Output(isJson);
  if (isJson) output.json(found);
  else showStatus(output, found);
  return 0;
}

function showStatus(output: Output, found: StoreStatus): void {
  const { file, bytes, walBytes, format, position, behind, historyBefore } = found;
  output.line(
    `${file}: ${bytes} bytes, ${walBytes} more in its write-ahead file, format ${format}`,
  );
  const lag = behind === 0 ? "the whole log" : `${behind} records of the log are missing`;
  output.line(`up to position ${position}: ${lag}`);
  output.line(windowOf(historyBefore));
  output.rows([TABLE, rows("rows"), HASH], found.tables, "no tables");
}

function windowOf(before: StoreStatus["historyBefore"]): string {
  if (before === null) return "every row of the log up to there";
  const { position, time } = before;
  return `orders, fills, trades and ledger from position ${position} on, ${new Date(time).toISOString()}`;
}

export async function verifyTables(options: StoreOptions): Promise<number> {
  const report = await withReason(() => verifyStore(dataFolderOf(options), showProgress));
  const output = new Output(options.json === true);
  if (output.isJson) output.json(report);
  else showReport(output, report);
  return report.agrees ? 0 : 1;
}

function showReport(output: Output, { position, from, fault, tables, agrees }: StoreReport): void {
  const log: Column<VerifiedTable> = {
    title: "log",
    align: "right",
    cell: ({ logRows }) => String(logRows),
  };
  const agreement: Column<VerifiedTable> = {
    title: "",
    cell: (table) => (table.fault === null ? "agrees" : { text: "differs", tone: "bad" }),
  };
  if (tables.length > 0) output.rows([TABLE, rows("stored"), log, HASH, agreement], tables, "");
  if (from > 0) output.line(`the log was pruned: compared from position ${from + 1} on`);
  for (const table of tables) if (table.fault !== null) output.line(table.fault);
  if (fault !== null) output.line(fault);
  if (agrees) output.line(`every table agrees with the log up to position ${position}`);
}

const TABLE: Column<TableReport> = { title: "table", cell: ({ table }) => table };
const HASH: Column<TableReport> = {
  title: "sha256",
  cell: ({ sha256 }) => sha256?.slice(0, 16) ?? "–",
};

function rows(title: string): Column<TableReport> {
  return { title, align: "right", cell: (table) => String(table.rows) };
}

async function withReason<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw folderError(error);
  } finally {
    endSteps();
  }
}
