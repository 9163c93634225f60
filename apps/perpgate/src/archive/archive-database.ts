/**
 * An archive in PostgreSQL. Rows and the position in the log that they reach are one transaction, so a crash of
 * either side at any moment leaves neither a gap nor a row twice. One process writes at a time, by a lock of
 * its connection, which ends with that.
 */
import {
  ARCHIVE_FORMAT,
  type ArchiveBatch,
  type ArchiveHeld,
  ArchiveRefused,
  type ArchiveTable,
  archiveTables,
} from "@perpgate/venue";
import { DAY_MS, merge, migrations, partition, staging, stagingOf } from "./archive-schema.js";
import { Postgres, type Row } from "./postgres.js";

type Cells = readonly (number | string | Uint8Array | null)[];

/** Of the lock: any number that is always the same. */
const LOCK = 7_383_614_105;
/** Rows of one piece of a COPY. */
const ROWS_PER_PIECE = 256;

export class ArchiveDatabase {
  /** Parts that exist, as `TABLE DAY`. */
  private readonly parts = new Set<string>();

  private constructor(
    private readonly postgres: Postgres,
    private readonly tables: readonly ArchiveTable[],
    private readonly logId: string,
  ) {}

  /** While another process writes the archive: the last position that it has of the log. @throws {ArchiveRefused} */
  static async open(url: string, logId: string): Promise<ArchiveDatabase | number> {
    const postgres = await Postgres.connect(url);
    try {
      const [row] = await postgres.query("SELECT pg_try_advisory_lock($1) AS locked", [LOCK]);
      if (row?.locked !== true) {
        const found = await header(postgres);
        await postgres.close();
        return found?.log === logId ? Number(found.position) : 0;
      }
      const database = new ArchiveDatabase(postgres, archiveTables(), logId);
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
    const { position, batch, record } = row ?? {};
    return { position: Number(position), batch: Number(batch), record: Number(record) };
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
      const { position, batch, record } = held;
      const written = await postgres.query(
        `UPDATE archive SET position = $1, batch = $2, record = $3 WHERE batch = $4 RETURNING one`,
        [position, batch, record, before.batch],
      );
      if (written.length !== 1) throw new ArchiveRefused("another process has written the archive");
    });
    for (const part of made) this.parts.add(part);
  }

  close(): Promise<void> {
    return this.postgres.close();
  }

  private async migrate(): Promise<void> {
    const { postgres, logId } = this;
    const steps = migrations(this.tables);
    const row = await header(postgres);
    const version = Number(row?.version ?? 0);
    if (version > steps.length)
      throw new ArchiveRefused("the archive was written by a later release");
    if (row !== undefined && row.log !== logId)
      throw new ArchiveRefused("the archive is of another log");
    for (const step of steps.slice(version)) for (const sql of step) await postgres.query(sql);
    if (row === undefined) {
      const values = [steps.length, ARCHIVE_FORMAT, logId];
      await postgres.query("INSERT INTO archive VALUES (1, $1, $2, $3, 0, 0, 0)", values);
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
    for (const day of missing) await this.postgres.query(partition(table, day));
    return missing.map((day) => `${table.name} ${day}`);
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
