/** The rows of a recording: CSV and NDJSON, also compressed by gzip, and Parquet. */

import { closeSync, createReadStream, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import { pipeline } from "node:stream";
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
  close(): Promise<void>;
}

/** Of Parquet, read together. */
const CHUNK_ROWS = 20_000;
/** A book of Hyperliquid is a few thousand characters. */
const MAX_LINE = 2 ** 20;
const GZIP_MAGIC = Uint8Array.of(0x1f, 0x8b);
const PARQUET_MAGIC = Buffer.from("PAR1");

/** A path, or a text that needs no file; its name is that of a file, for problems and layouts. */
export type RecordingFile = string | { readonly name: string; readonly text: string };

export function nameOf(file: RecordingFile): string {
  return typeof file === "string" ? basename(file) : file.name;
}

/** @throws RecordingError */
export async function openRows(file: RecordingFile): Promise<Rows> {
  const name = nameOf(file);
  if (typeof file === "string" && startsWith(file, PARQUET_MAGIC)) return openParquet(file, name);
  const lines = linesOf(name, typeof file === "string" ? inputOf(file) : [file.text]);
  const close = async () => {
    await lines.return(undefined);
  };
  try {
    const { value: head, done } = await lines.next();
    if (done === true || head.trim() === "") {
      throw new RecordingError(`${name}:1: the file is empty`);
    }
    const rows = head.startsWith("{") ? openJson(name, head, lines) : openCsv(name, head, lines);
    return { name, ...rows, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function startsWith(path: string, magic: Uint8Array): boolean {
  const bytes = Buffer.alloc(magic.length);
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    readSync(file, bytes, 0, bytes.length, 0);
  } catch (error) {
    throw new RecordingError(`${path}: ${whyOf(error)}`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
  return bytes.equals(magic);
}

function inputOf(path: string): AsyncIterable<string> {
  const isCompressed = startsWith(path, GZIP_MAGIC);
  const file = createReadStream(path);
  if (!isCompressed) return file.setEncoding("utf8");
  // An error of either rejects the next read.
  return pipeline(file, createGunzip(), () => undefined).setEncoding("utf8");
}

async function* linesOf(
  name: string,
  input: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<string> {
  let rest = "";
  let count = 0;
  const isTooLong = () => rest.length > MAX_LINE;
  try {
    for await (const part of input) {
      const lines = (rest + (count === 0 ? part.replace(/^\uFEFF/, "") : part)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        count++;
        yield line.endsWith("\r") ? line.slice(0, -1) : line;
      }
      if (isTooLong()) break;
    }
  } catch (error) {
    throw new RecordingError(`${name}:${count + 1}: ${whyOf(error)}`);
  }
  if (isTooLong()) throw new RecordingError(`${name}:${count + 1}: longer than ${MAX_LINE} bytes`);
  if (rest !== "") yield rest;
}

function whyOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

type Lines = AsyncIterator<string>;
type Table = Pick<Rows, "columns" | "rows">;

function openCsv(name: string, head: string, lines: Lines): Table {
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
  return { columns, rows: rows() };
}

function openJson(name: string, head: string, lines: Lines): Table {
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
  return { columns, rows: rows() };
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
  const readable = <T>(place: number, reading: Promise<T>): Promise<T> =>
    reading.catch((error: unknown) => {
      throw new RecordingError(`${name}:${place}: no Parquet file: ${whyOf(error)}`);
    });
  const file = await asyncBufferFromFile(path);
  const metadata = await readable(1, parquetMetadataAsync(file));
  const columns = metadata.schema.slice(1).map((column) => column.name);
  const count = Number(metadata.num_rows);
  async function* rows(): AsyncGenerator<Row> {
    for (let rowStart = 0; rowStart < count; rowStart += CHUNK_ROWS) {
      const rowEnd = Math.min(count, rowStart + CHUNK_ROWS);
      const options = { file, metadata, rowStart, rowEnd, compressors: COMPRESSORS };
      const objects = await readable(rowStart + 1, parquetReadObjects(options));
      for (const [at, object] of objects.entries()) {
        yield { place: rowStart + at + 1, cells: columns.map((column) => object[column]) };
      }
    }
  }
  // Each read opens the file for itself.
  return { name, columns, rows: rows(), close: async () => undefined };
}
