/** The rows of an archive against those of a folder's store. */
import { type ArchiveTable, archiveTables } from "@perpgate/venue";
import { editStore, prepare } from "@perpgate/venue/testing";
import { expect } from "vitest";
import type { PostgresServer } from "../../testing/postgres-server.js";

/** Numbers as numbers, bytes as hex: both drivers give the same. */
function plain(cell: unknown): unknown {
  if (cell instanceof Uint8Array) return Buffer.from(cell).toString("hex");
  return typeof cell === "bigint" ? Number(cell) : cell;
}

function storedRows(data: string, { name, columns, key }: ArchiveTable): unknown[][] {
  const names = columns.map((column) => column.name).join(", ");
  return editStore(data, (database) =>
    prepare(database, `SELECT ${names} FROM ${name} ORDER BY ${key.join(", ")}`)
      .all()
      .map((cells) => cells.map(plain)),
  );
}

async function archivedRows(server: PostgresServer, table: ArchiveTable): Promise<unknown[][]> {
  const { name, columns, key } = table;
  const rows = await server.query(`SELECT * FROM ${name} ORDER BY ${key.join(", ")}`);
  return rows.map((row) =>
    columns.map((column) => {
      const cell = row[column.name];
      return column.type === "integer" && cell !== null ? Number(cell) : plain(cell);
    }),
  );
}

/** Compares all tables; returns how many rows they have. */
export async function expectSameRows(server: PostgresServer, data: string): Promise<number> {
  let count = 0;
  for (const table of archiveTables()) {
    const stored = storedRows(data, table);
    expect(await archivedRows(server, table), table.name).toEqual(stored);
    count += stored.length;
  }
  return count;
}
