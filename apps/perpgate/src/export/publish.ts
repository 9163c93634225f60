/**
 * `perpgate publish`: public data of a data folder as files, a folder for each UTC day that is over: trades, and
 * candles of a minute of trades, mark and index, and funding rates, by market. A day that is there stays as it is.
 *
 * A day's folder gets its name when it is complete and on disk, and the index names it after that.
 */

import { createHash } from "node:crypto";
import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { CandlePrice } from "@perpgate/protocol/core";
import { type ExportKind, type ExportRow, exportSpan, openExport } from "@perpgate/venue";
import { dataFolderOf } from "../operator/data-option.js";
import { folderError } from "../operator/folder-error.js";
import { endSteps, showStep } from "../operator/verify.js";
import { writeRows } from "./row-writer.js";

interface PublishOptions {
  readonly to: string;
  readonly data?: string;
  readonly json?: boolean;
}

interface Dataset {
  /** In the names of its files. */
  readonly name: string;
  readonly kind: ExportKind;
  readonly price: CandlePrice;
}

const RESOLUTION = "1m";
const DATASETS: readonly Dataset[] = [
  { name: "trades", kind: "trades", price: "trades" },
  { name: "candles-1m", kind: "candles", price: "trades" },
  { name: "mark-candles-1m", kind: "candles", price: "mark" },
  { name: "index-candles-1m", kind: "candles", price: "index" },
  { name: "funding", kind: "funding", price: "trades" },
];
const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const INDEX = "index.json";

interface PublishedFile {
  readonly file: string;
  readonly symbol: string;
  readonly data: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

export async function publish(options: PublishOptions): Promise<number> {
  const to = resolve(options.to);
  try {
    const { days, missed } = await publishDays(dataFolderOf(options), to);
    const text = days.length === 0 ? "no day is new" : `published ${days.join(", ")}`;
    const shown = options.json === true ? JSON.stringify({ folder: to, days, missed }) : text;
    process.stdout.write(`${shown}\n`);
    if (missed.length === 0) return 0;
    const which = missed.length > 3 ? `${missed[0]} to ${missed.at(-1)}` : missed.join(", ");
    process.stderr.write(
      `${which} cannot be published: the history does not have them whole any more. Call publish ` +
        "each day, with history.hotDays of at least 2\n",
    );
    return 1;
  } catch (error) {
    throw folderError(error);
  } finally {
    endSteps();
  }
}

interface Published {
  /** That were made. */
  readonly days: readonly string[];
  /** Days after the newest one before that cannot be made. */
  readonly missed: readonly string[];
}

async function publishDays(data: string, to: string): Promise<Published> {
  const { symbols, fromMs, toMs, keptFromMs } = exportSpan(data);
  mkdirSync(to, { recursive: true });
  const days: string[] = [];
  // The day in which the history's window begins is not whole.
  const first = keptFromMs > 0 ? Math.ceil(keptFromMs / DAY_MS) : Math.floor(fromMs / DAY_MS);
  // The last day is not over before a block of the next one is stored.
  const end = Math.floor(toMs / DAY_MS);
  const last = daysIn(to).at(-1);
  const unseen = last === undefined ? Math.floor(fromMs / DAY_MS) : dayOf(last) + 1;
  const missed: string[] = [];
  for (let day = unseen; day < Math.min(first, end); day++) missed.push(nameOf(day));
  for (let day = first; day < end; day++) {
    const name = nameOf(day);
    if (existsSync(join(to, name))) continue;
    showStep(name);
    await makeDay(data, to, name, symbols, day * DAY_MS);
    days.push(name);
  }
  // Also of a day that was made by a call which was killed before it wrote the index.
  writeIndex(to);
  return { days, missed };
}

function nameOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function dayOf(name: string): number {
  return Date.parse(name) / DAY_MS;
}

/** That are there, the oldest first. */
function daysIn(to: string): readonly string[] {
  return readdirSync(to)
    .filter((name) => DAY.test(name))
    .sort();
}

async function makeDay(
  data: string,
  to: string,
  day: string,
  symbols: readonly string[],
  fromMs: number,
): Promise<void> {
  const folder = join(to, `.${day}.part`);
  // Of a call that was stopped.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const files: PublishedFile[] = [];
  for (const symbol of symbols) {
    for (const dataset of DATASETS) {
      const made = await makeFile(data, folder, symbol, dataset, fromMs);
      if (made.rows > 0) files.push(made);
      else rmSync(join(folder, made.file));
    }
  }
  writeFileSync(join(folder, INDEX), text({ day, files }));
  for (const name of readdirSync(folder)) sync(join(folder, name));
  sync(folder);
  renameSync(folder, join(to, day));
  sync(to);
}

async function makeFile(
  data: string,
  folder: string,
  symbol: string,
  { name, kind, price }: Dataset,
  fromMs: number,
): Promise<PublishedFile> {
  const file = `${symbol}-${name}.csv.gz`;
  const [plain, packed] = [join(folder, "rows.csv"), join(folder, file)];
  const toMs = fromMs + DAY_MS;
  const query = { kind, fromMs, toMs, symbol, resolution: RESOLUTION, price } as const;
  const { columns, rows, close } = openExport(data, query);
  const counter = { rows: 0 };
  try {
    await writeRows("csv", columns, counted(rows, counter), plain);
  } finally {
    close();
  }
  await pipeline(createReadStream(plain), createGzip(), createWriteStream(packed));
  rmSync(plain);
  const bytes = statSync(packed).size;
  return { file, symbol, data: name, rows: counter.rows, bytes, sha256: await hashOf(packed) };
}

async function* counted(
  rows: Iterable<ExportRow>,
  counter: { rows: number },
): AsyncGenerator<ExportRow> {
  for (const row of rows) {
    counter.rows++;
    yield row;
  }
}

/** Of all days that are there, with the hash of the index of each, unless it has them. */
function writeIndex(to: string): void {
  const days = daysIn(to).map((day) => {
    const index = `${day}/${INDEX}`;
    const sha256 = createHash("sha256")
      .update(readFileSync(join(to, index)))
      .digest("hex");
    return { day, index, sha256 };
  });
  const index = text({ days });
  const file = join(to, INDEX);
  if (existsSync(file) && readFileSync(file, "utf8") === index) return;
  const part = join(to, `.${INDEX}.part`);
  writeFileSync(part, index);
  sync(part);
  renameSync(part, file);
  sync(to);
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

function text(value: object): string {
  return `${JSON.stringify(value, null, 1)}\n`;
}

function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
