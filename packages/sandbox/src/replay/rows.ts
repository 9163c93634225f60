/** The rows of a recording: CSV and NDJSON, also compressed by gzip, and Parquet. */

import { closeSync, createReadStream, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { brotliDecompressSync, createGunzip, gunzipSync, zstdDecompressSync } from "node:zlib";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { RecordingError } from "./events.js";

interface Row {
  /** Line or row, from 1. */
  readonly place: number;
  readonly cells: readonly unknown[];
}

export interface Rows {
  readonly name: string;
  /** Undefined: a CSV file without a header. */
  readonly columns: readonly string[] | undefined;
  readonly rows: AsyncIterable<Row>;
}

/** Of Parquet, read together. */
const CHUNK_ROWS = 20_000;
const GZIP_MAGIC = [0x1f, 0x8b];

/** @throws RecordingError */
export async function openRows(path: string): Promise<Rows> {
  const name = basename(path);
  const first = firstBytes(path);
  if (first.subarray(0, 4).toString("latin1") === "PAR1") return openParquet(path, name);
  const isGzip = GZIP_MAGIC.every((byte, at) => first[at] === byte);
  const lines = linesOf(path, isGzip)[Symbol.asyncIterator]();
  const { value: head, done } = await lines.next();
  if (done === true || head.trim() === "") throw new RecordingError(`${name}:1: the file is empty`);
  return head.startsWith("{") ? openJson(name, head, lines) : openCsv(name, head, lines);
}

function firstBytes(path: string): Buffer {
  const bytes = Buffer.alloc(4);
  try {
    const file = openSync(path, "r");
    readSync(file, bytes, 0, bytes.length, 0);
    closeSync(file);
  } catch (error) {
    throw new RecordingError(error instanceof Error ? error.message : String(error));
  }
  return bytes;
}

function linesOf(path: string, isGzip: boolean): AsyncIterable<string> {
  const file = createReadStream(path);
  const input = isGzip ? file.pipe(createGunzip()) : file;
  return createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
}

type Lines = AsyncIterator<string>;

function openCsv(name: string, head: string, lines: Lines): Rows {
  const isHeader = !/^\d/.test(head);
  const columns = isHeader ? head.split(",") : undefined;
  async function* rows(): AsyncGenerator<Row> {
    if (!isHeader) yield { place: 1, cells: head.split(",") };
    for (let place = 2; ; place++) {
      const { value, done } = await lines.next();
      if (done === true) return;
      if (value === "") continue;
      const cells = value.split(",");
      if (columns !== undefined && cells.length !== columns.length) {
        throw new RecordingError(
          `${name}:${place}: ${cells.length} cells under ${columns.length} columns`,
        );
      }
      yield { place, cells };
    }
  }
  return { name, columns, rows: rows() };
}

function openJson(name: string, head: string, lines: Lines): Rows {
  const columns = Object.keys(objectIn(head, name, 1));
  async function* rows(): AsyncGenerator<Row> {
    let text = head;
    for (let place = 1; ; place++) {
      if (text !== "") {
        const object = objectIn(text, name, place);
        yield { place, cells: columns.map((column) => object[column]) };
      }
      const { value, done } = await lines.next();
      if (done === true) return;
      text = value;
    }
  }
  return { name, columns, rows: rows() };
}

function objectIn(text: string, name: string, place: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return { ...value };
  } catch {
    // Said below.
  }
  throw new RecordingError(`${name}:${place}: no JSON object`);
}

const COMPRESSORS = {
  GZIP: (input: Uint8Array) => gunzipSync(input),
  BROTLI: (input: Uint8Array) => brotliDecompressSync(input),
  ZSTD: (input: Uint8Array) => zstdDecompressSync(input),
};

async function openParquet(path: string, name: string): Promise<Rows> {
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    const columns = metadata.schema.slice(1).map((column) => column.name);
    const count = Number(metadata.num_rows);
    async function* rows(): AsyncGenerator<Row> {
      for (let rowStart = 0; rowStart < count; rowStart += CHUNK_ROWS) {
        const rowEnd = Math.min(count, rowStart + CHUNK_ROWS);
        const options = { file, metadata, rowStart, rowEnd, compressors: COMPRESSORS };
        const objects = await parquetReadObjects(options);
        for (const [at, object] of objects.entries()) {
          yield { place: rowStart + at + 1, cells: columns.map((column) => object[column]) };
        }
      }
    }
    return { name, columns, rows: rows() };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RecordingError(`${name}:1: no Parquet file: ${why}`);
  }
}
