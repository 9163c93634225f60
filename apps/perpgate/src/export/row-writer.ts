/**
 * Writes exported rows one after the other; memory holds a few thousand at most. CSV is RFC 4180 with a
 * header, numbers with a point; NDJSON has an object a line; Parquet has typed columns.
 */

import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { ExportCell, ExportColumn, ExportRow } from "@perpgate/venue";
import { type BasicType, fileWriter, parquetWriteRows } from "hyparquet-writer";

const FORMATS = ["csv", "ndjson", "parquet"] as const;
export type Format = (typeof FORMATS)[number];

type Rows = AsyncIterable<ExportRow>;

/** To the file, or to standard output; Parquet goes to a file alone. */
export async function writeRows(
  format: Format,
  columns: readonly ExportColumn[],
  rows: Rows,
  file: string | undefined,
): Promise<void> {
  if (format === "parquet") {
    if (file === undefined) throw new RangeError("Parquet needs a file");
    await writeParquet(columns, rows, file);
    return;
  }
  const lines = format === "csv" ? csvLines(columns, rows) : jsonLines(columns, rows);
  if (file === undefined) await pipeline(chunksOf(lines), process.stdout, { end: false });
  else await pipeline(chunksOf(lines), createWriteStream(file));
}

const CHUNK_LINES = 512;

async function* chunksOf(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk: string[] = [];
  for await (const line of lines) {
    chunk.push(line);
    if (chunk.length < CHUNK_LINES) continue;
    yield chunk.join("");
    chunk = [];
  }
  yield chunk.join("");
}

async function* csvLines(columns: readonly ExportColumn[], rows: Rows): AsyncGenerator<string> {
  yield `${columns.map(({ name }) => csvCell(name)).join(",")}\r\n`;
  for await (const row of rows) yield `${row.map(csvCell).join(",")}\r\n`;
}

function csvCell(cell: ExportCell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return plainNumber(cell);
  if (typeof cell === "boolean") return String(cell);
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Without an exponent, which some tools do not read. */
function plainNumber(value: number): string {
  const text = String(value);
  return text.includes("e") ? value.toFixed(12).replace(/\.?0+$/, "") : text;
}

async function* jsonLines(columns: readonly ExportColumn[], rows: Rows): AsyncGenerator<string> {
  for await (const row of rows) yield `${JSON.stringify(objectOf(columns, row))}\n`;
}

function objectOf(columns: readonly ExportColumn[], row: ExportRow): Record<string, ExportCell> {
  return Object.fromEntries(columns.map(({ name }, i) => [name, row[i] ?? null]));
}

const PARQUET_TYPES: Readonly<Record<ExportColumn["type"], BasicType>> = {
  text: "STRING",
  number: "DOUBLE",
  integer: "INT64",
  boolean: "BOOLEAN",
};
const ROWS_PER_GROUP = 20_000;

async function writeParquet(
  columns: readonly ExportColumn[],
  rows: Rows,
  file: string,
): Promise<void> {
  const types = columns.map(({ name, type }) => ({ name, type: PARQUET_TYPES[type] }));
  await parquetWriteRows({
    writer: fileWriter(file),
    columns: types,
    rows: parquetRows(columns, rows),
    rowGroupSize: ROWS_PER_GROUP,
  });
}

async function* parquetRows(columns: readonly ExportColumn[], rows: Rows) {
  for await (const row of rows) {
    yield Object.fromEntries(
      columns.map(({ name, type }, i) => {
        const cell = row[i] ?? null;
        return [name, type === "integer" && typeof cell === "number" ? BigInt(cell) : cell];
      }),
    );
  }
}
