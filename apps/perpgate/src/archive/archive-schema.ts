/** The archive's tables in PostgreSQL: declared from those of the store. */
import type { ArchiveColumn, ArchiveTable } from "@perpgate/venue";

export const DAY_MS = 86_400_000;

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
export function migrations(tables: readonly ArchiveTable[]): readonly (readonly string[])[] {
  // 2: the store's header changed alone (format 15).
  return [[HEADER, ...tables.map(declaration), ...INDEXES], []];
}

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

/** Creates the part of a divided table that has the day's rows. */
export function partition({ name }: ArchiveTable, day: number): string {
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "");
  return `CREATE TABLE IF NOT EXISTS ${name}_${date} PARTITION OF ${name}
    FOR VALUES FROM (${day * DAY_MS}) TO (${(day + 1) * DAY_MS})`;
}

/** Where rows that may replace others are put first. */
export function stagingOf({ name }: ArchiveTable): string {
  return `new_${name}`;
}

export function staging(table: ArchiveTable): string {
  return `CREATE TEMPORARY TABLE ${stagingOf(table)} (LIKE ${table.name}) ON COMMIT DELETE ROWS`;
}

/** Moves the rows from there into the table. */
export function merge(table: ArchiveTable): string {
  const { name, changing } = table;
  const set = (changing ?? [])
    .filter((column) => !keyOf(table).includes(column))
    .map((column) => `${column} = EXCLUDED.${column}`);
  const action = set.length === 0 ? "NOTHING" : `UPDATE SET ${set.join(", ")}`;
  return `INSERT INTO ${name} SELECT * FROM ${stagingOf(table)}
    ON CONFLICT (${keyOf(table).join(", ")}) DO ${action}`;
}
