/**
 * An archive in PostgreSQL. Rows and the position in the log that they reach are one transaction, so a crash of
 * either side at any moment leaves neither a gap nor a row twice. One process writes at a time, by a lock of
 * its connection, which ends with that.
 */
import {
  ARCHIVE_FORMAT,
  type ArchiveBatch,
  type ArchiveColumn,
  type ArchiveHeld,
  ArchiveRefused,
  type ArchiveTable,
  archiveTables,
  NOTHING_ARCHIVED,
} from "@perpgate/venue";
import { Postgres, type Row } from "./postgres.js";

type Cells = readonly (number | string | Uint8Array | null)[];

/** Of the lock: any number that is always the same. */
const LOCK = 7_383_614_105;
const WRITER = { connectionTimeoutMillis: 10_000, lock_timeout: 10_000 };
/** After that a host that vanished is given up; the next try finds out what it has. Nothing takes minutes. */
const ANSWER_MS = 300_000;
/** Rows of one piece of a COPY. */
const ROWS_PER_PIECE = 256;

export class ArchiveDatabase {
  /** Parts that exist, as `TABLE DAY`. */
  private readonly parts = new Set<string>();

  private constructor(
    private readonly postgres: Postgres,
    private readonly tables: readonly ArchiveTable[],
  ) {}

  /** While another process writes the archive: what that has. @throws {ArchiveRefused} */
  static async open(url: string, answerMs = ANSWER_MS): Promise<ArchiveDatabase | ArchiveHeld> {
    const postgres = await Postgres.connect(url, WRITER, answerMs);
    try {
      const [row] = await postgres.query("SELECT pg_try_advisory_lock($1) AS locked", [LOCK]);
      if (row?.locked !== true) {
        const found = await header(postgres);
        await postgres.close();
        return heldIn(found);
      }
      const database = new ArchiveDatabase(postgres, archiveTables());
      await postgres.within(() => database.migrate());
      for (const table of database.tables) {
        if (table.changing !== null) await postgres.query(staging(table));
      }
      return database;
    } catch (error) {
      await postgres.close();
      throw error;
    }
  }

  async held(): Promise<ArchiveHeld> {
    const [row] = await this.postgres.query("SELECT * FROM archive");
    return heldIn(row);
  }

  /** Adds a batch to an archive that has `before`. */
  async write(before: ArchiveHeld, { held, rows }: ArchiveBatch): Promise<void> {
    const { postgres } = this;
    const made: string[] = [];
    await postgres.within(async () => {
      for (const table of this.tables) {
        const cells = rows.get(table.name);
        if (cells === undefined) continue;
        made.push(...(await this.makeParts(table, cells)));
        await this.put(table, cells);
      }
      const { venue, position, batch, record, block, blockHash, openHash } = held;
      const written = await postgres.query(
        `UPDATE archive SET venue = $1, position = $2, batch = $3, record = $4, block = $5, block_hash = $6,
           open_hash = $7 WHERE batch = $8 RETURNING one`,
        [venue, position, batch, record, block, blockHash, openHash, before.batch],
      );
      if (written.length !== 1) throw new ArchiveRefused("another process has written the archive");
    });
    for (const part of made) this.parts.add(part);
  }

  close(): Promise<void> {
    return this.postgres.close();
  }

  private async migrate(): Promise<void> {
    const { postgres } = this;
    const steps = migrations(this.tables);
    const row = await header(postgres);
    const version = Number(row?.version ?? 0);
    if (version > steps.length)
      throw new ArchiveRefused("the archive was written by a later release");
    for (const step of steps.slice(version)) for (const sql of step) await postgres.query(sql);
    if (row === undefined) {
      const columns = "one, version, format, position, batch, record";
      const values = [steps.length, ARCHIVE_FORMAT];
      await postgres.query(`INSERT INTO archive (${columns}) VALUES (1, $1, $2, 0, 0, 0)`, values);
    } else if (version === steps.length && row.format !== ARCHIVE_FORMAT) {
      throw new ArchiveRefused(
        `the archive has tables of format ${row.format}, this release writes ${ARCHIVE_FORMAT}: begin another`,
      );
    } else {
      await postgres.query("UPDATE archive SET version = $1, format = $2", [
        steps.length,
        ARCHIVE_FORMAT,
      ]);
    }
  }

  private async makeParts(table: ArchiveTable, rows: readonly Cells[]): Promise<string[]> {
    const at = table.columns.findIndex(({ name }) => name === table.day);
    if (at < 0) return [];
    const days = new Set(rows.map((cells) => Math.floor(Number(cells[at]) / DAY_MS)));
    const missing = [...days].filter((day) => !this.parts.has(`${table.name} ${day}`));
    for (const day of missing) await this.makePart(table, day);
    return missing.map((day) => `${table.name} ${day}`);
  }

  /**
   * Attaching a table waits for no reader and holds up none, other than creating it as a part: that would wait for
   * the end of every query of the table, and all later ones would wait for it.
   */
  private async makePart({ name }: ArchiveTable, day: number): Promise<void> {
    const date = new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "");
    const part = `${name}_${date}`;
    const [found] = await this.postgres.query(
      "SELECT 1 FROM pg_inherits WHERE inhrelid = to_regclass($1)",
      [part],
    );
    if (found !== undefined) return;
    const span = `FROM (${day * DAY_MS}) TO (${(day + 1) * DAY_MS})`;
    await this.postgres.query(`CREATE TABLE ${part} (LIKE ${name} INCLUDING ALL)`);
    await this.postgres.query(`ALTER TABLE ${name} ATTACH PARTITION ${part} FOR VALUES ${span}`);
  }

  private async put(table: ArchiveTable, rows: readonly Cells[]): Promise<void> {
    if (table.changing === null) {
      await this.postgres.copy(table.name, pieces(rows));
      return;
    }
    await this.postgres.copy(stagingOf(table), pieces(rows));
    await this.postgres.query(merge(table));
  }
}

function* pieces(rows: readonly Cells[]): Generator<string> {
  for (let from = 0; from < rows.length; from += ROWS_PER_PIECE) {
    let lines = "";
    const to = Math.min(rows.length, from + ROWS_PER_PIECE);
    for (let i = from; i < to; i++) lines += lineOf(rows[i]!);
    yield lines;
  }
}

/** Undefined where there is no archive. */
async function header(postgres: Postgres): Promise<Row | undefined> {
  const [exists] = await postgres.query("SELECT to_regclass('archive') IS NOT NULL AS found");
  if (exists?.found !== true) return undefined;
  const [row] = await postgres.query("SELECT * FROM archive");
  return row;
}

function heldIn(row: Row | undefined): ArchiveHeld {
  if (row === undefined) return NOTHING_ARCHIVED;
  const { venue, position, batch, record, block, block_hash, open_hash } = row;
  return {
    venue: String(venue ?? ""),
    position: Number(position),
    batch: Number(batch),
    record: Number(record),
    block: Number(block ?? 0),
    blockHash: String(block_hash ?? ""),
    openHash: String(open_hash ?? ""),
  };
}

/** A row in the text format of COPY. One string that grows: an array of texts takes twice as long. */
function lineOf(cells: Cells): string {
  let line = textOf(cells[0]!);
  for (let i = 1; i < cells.length; i++) line += `\t${textOf(cells[i]!)}`;
  return `${line}\n`;
}

function textOf(cell: Cells[number]): string {
  if (typeof cell === "number") return String(cell);
  if (cell === null) return "\\N";
  if (typeof cell === "string") return cell.replace(/[\\\n\r\t]/g, escaped);
  return `\\\\x${Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength).toString("hex")}`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

function escaped(character: string): string {
  return ESCAPES[character] ?? character;
}

const DAY_MS = 86_400_000;

/** The archive's tables in PostgreSQL: declared from those of the store. */
const TYPES: Readonly<Record<ArchiveColumn["type"], string>> = {
  integer: "bigint",
  number: "double precision",
  text: "text",
  bytes: "bytea",
};

const INDEXES = [
  "CREATE INDEX orders_of_account ON order_rows (account, market, id)",
  "CREATE INDEX orders_by_nonce ON order_rows (account, nonce, id)",
  `CREATE INDEX orders_by_client_id ON order_rows (account, client_key, id, market)
   WHERE client_key IS NOT NULL`,
];

/** How far the archive is; written in the transaction of its rows. */
const HEADER = `CREATE TABLE archive (
  one integer PRIMARY KEY CHECK (one = 1), version integer NOT NULL, format integer NOT NULL, log text NOT NULL,
  position bigint NOT NULL, batch bigint NOT NULL, record bigint NOT NULL
)`;

/**
 * What leads from each version of the archive to the next. A release that changes the store's tables appends
 * what does the same here; what is there is never changed.
 */
function migrations(tables: readonly ArchiveTable[]): readonly (readonly string[])[] {
  return [
    [HEADER, ...tables.map(declaration), ...INDEXES],
    // The store's header changed alone (format 15).
    [],
    // Cores of a cluster have logs of different ids; the last block tells which past an archive has.
    [PAST, PAST_OF_BLOCKS],
  ];
}

const PAST = `ALTER TABLE archive
  DROP COLUMN log, ADD COLUMN venue text NOT NULL DEFAULT '', ADD COLUMN block bigint NOT NULL DEFAULT 0,
  ADD COLUMN block_hash text NOT NULL DEFAULT '', ADD COLUMN open_hash text NOT NULL DEFAULT ''`;

/** Of an archive that has rows: who feeds it next names the venue. */
const PAST_OF_BLOCKS = `UPDATE archive SET block = number, block_hash = encode(sha256(header), 'hex')
  FROM block_rows WHERE number = (SELECT max(number) FROM block_rows)`;

/** The columns that a row is found by; a divided table needs its day among them. */
function keyOf({ key, day }: ArchiveTable): readonly string[] {
  return day === null || key.includes(day) ? key : [...key, day];
}

function declaration(table: ArchiveTable): string {
  const columns = table.columns.map(({ name, type }) => `${name} ${TYPES[type]}`);
  const key = `PRIMARY KEY (${keyOf(table).join(", ")})`;
  const division = table.day === null ? "" : ` PARTITION BY RANGE (${table.day})`;
  return `CREATE TABLE ${table.name} (${[...columns, key].join(", ")})${division}`;
}

/** Where rows that may replace others are put first. */
function stagingOf({ name }: ArchiveTable): string {
  return `new_${name}`;
}

function staging(table: ArchiveTable): string {
  return `CREATE TEMPORARY TABLE ${stagingOf(table)} (LIKE ${table.name}) ON COMMIT DELETE ROWS`;
}

/** Moves the rows from there into the table. */
function merge(table: ArchiveTable): string {
  const { name, changing } = table;
  const set = (changing ?? [])
    .filter((column) => !keyOf(table).includes(column))
    .map((column) => `${column} = EXCLUDED.${column}`);
  const action = set.length === 0 ? "NOTHING" : `UPDATE SET ${set.join(", ")}`;
  return `INSERT INTO ${name} SELECT * FROM ${stagingOf(table)}
    ON CONFLICT (${keyOf(table).join(", ")}) DO ${action}`;
}
