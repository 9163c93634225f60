/**
 * A read of the past while another thread reads the store (thread/store-reader.ts). The caller's thread never
 * reads the disk for it:
 *
 *   1. run      the read runs over the rows in memory and those that were fetched for it. Where rows of the store
 *               are missing, it notes them and throws `RowsMissing`
 *   2. fetch    the other thread reads what was noted, in one transaction
 *   3. again    the read runs from its beginning; most are complete after one fetch
 *
 * So a read must have no effect before it is complete.
 */

import type { TableName } from "./history-environment.js";
import type { Entry } from "./row-codecs.js";
import type { Database } from "./sqlite.js";
import { StoredTable } from "./stored-table.js";

/** What a read needs of the store: one row, or a range of rows. */
export interface Want {
  readonly table: TableName;
  /** The key, or where the range begins, as Latin-1: it is a key of a map, too. */
  readonly from: string;
  /** Where the range ends, exclusive; undefined: it is one row. */
  readonly to?: string;
  readonly limit: number;
  readonly isAscending: boolean;
  /** Whether the row at `from` is not part of it. */
  readonly isAfter: boolean;
}

/** Not an error: the read runs again once its rows are fetched. */
export class RowsMissing extends Error {
  override readonly name = "RowsMissing";

  constructor() {
    super("rows of the store are not fetched yet");
  }
}

/** One that has run: it is complete, or its rows are being fetched and it is to run again after that. */
export type Ran<T> =
  | { readonly isDone: true; readonly value: T }
  | { readonly isDone: false; readonly fetched: Promise<void> };

/** A read that may take several runs. */
export interface PastRead {
  run<T>(work: () => T): Ran<T>;
  /** Must be called: what is written meanwhile stays in memory until then. */
  end(): void;
}

/** Rows of a range that are fetched at first, and with each further fetch of it. */
const FIRST_ROWS = 256;
const MORE_ROWS = 2_048;

interface FetchedRange {
  readonly entries: Entry[];
  isWhole: boolean;
}

/** What was fetched for one read. */
export class FetchedRows {
  private readonly rows = new Map<string, Buffer | undefined>();
  private readonly ranges = new Map<string, FetchedRange>();
  private readonly wants = new Map<string, Want>();

  get(table: TableName, key: Buffer): Buffer | undefined {
    const from = key.toString("latin1");
    const name = `${table} ${from}`;
    if (this.rows.has(name)) return this.rows.get(name);
    this.wants.set(name, { table, from, limit: 1, isAscending: true, isAfter: false });
    throw new RowsMissing();
  }

  /** It is noted at once and not where it is iterated: ranges that are merged are fetched together. */
  range(
    table: TableName,
    from: Buffer,
    to: Buffer,
    limit: number,
    isAscending: boolean,
  ): Iterable<Entry> {
    const keys = { table, from: from.toString("latin1"), to: to.toString("latin1"), isAscending };
    const name = `${table} ${isAscending ? "up" : "down"} ${keys.from} ${keys.to}`;
    if (!this.ranges.has(name)) {
      this.wants.set(name, { ...keys, limit: Math.min(limit, FIRST_ROWS), isAfter: false });
    }
    return this.entriesOf(name, keys, limit);
  }

  /** What is missing, by name; from now on nothing is. */
  takeWants(): ReadonlyMap<string, Want> {
    const wants = new Map(this.wants);
    this.wants.clear();
    return wants;
  }

  add(name: string, { to, limit }: Want, entries: readonly Entry[]): void {
    if (to === undefined) {
      this.rows.set(name, entries[0]?.value);
      return;
    }
    const range = this.ranges.get(name) ?? { entries: [], isWhole: false };
    for (const entry of entries) range.entries.push(entry);
    range.isWhole = entries.length < limit;
    this.ranges.set(name, range);
  }

  private *entriesOf(
    name: string,
    keys: Pick<Want, "table" | "from" | "isAscending"> & { readonly to: string },
    limit: number,
  ): Generator<Entry> {
    const range = this.ranges.get(name);
    if (range === undefined) throw new RowsMissing();
    const { entries, isWhole } = range;
    for (let i = 0; i < Math.min(limit, entries.length); i++) yield entries[i]!;
    const left = limit - entries.length;
    if (isWhole || left <= 0) return;
    const last = entries.at(-1)?.key.toString("latin1") ?? "";
    const rest = keys.isAscending ? { from: last, isAfter: true } : { to: last, isAfter: false };
    this.wants.set(name, { ...keys, ...rest, limit: Math.min(left, MORE_ROWS) });
    throw new RowsMissing();
  }
}

/** The read that runs now; undefined: reads are of the store itself. */
export interface RunningRead {
  rows: FetchedRows | undefined;
}

/** A table of the store: within a read its fetched rows. */
export class FetchedTable extends StoredTable {
  constructor(
    database: Database,
    name: TableName,
    private readonly running: RunningRead,
  ) {
    super(database, name);
  }

  override get(key: Buffer): Buffer | undefined {
    const { rows } = this.running;
    return rows === undefined ? super.get(key) : rows.get(this.name, key);
  }

  override range(from: Buffer, to: Buffer, limit: number, isAscending: boolean): Iterable<Entry> {
    const { rows } = this.running;
    if (rows === undefined) return super.range(from, to, limit, isAscending);
    return rows.range(this.name, from, to, limit, isAscending);
  }
}

/** `make` for each item, within a read: what several items miss is fetched at once. */
export function together<T, U>(items: readonly T[], make: (item: T) => U): U[] {
  const made: U[] = [];
  let missing: RowsMissing | undefined;
  for (const item of items) {
    try {
      made.push(make(item));
    } catch (error) {
      missing = missingIn(error);
    }
  }
  if (missing !== undefined) throw missing;
  return made;
}

/** @throws the error if it is another one. */
export function missingIn(error: unknown): RowsMissing {
  if (error instanceof RowsMissing) return error;
  throw error;
}
