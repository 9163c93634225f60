/** Lists whose filter is no part of the key: entries are read until the page is full, up to a bound. */
import type { Entry } from "./history-table.js";

/** Entries that one list reads at most: about 15 ms of work where all are left out. */
export const MAX_LOOKUPS = 10_000;

export interface FilteredRows<T> {
  readonly rows: readonly T[];
  /** Entries that were read, also those that are left out. */
  readonly read: number;
  /** Where the bound ended a page that was not full: the id of the last entry. Otherwise null. */
  readonly stoppedAt: number | null;
}

export const NO_ROWS: FilteredRows<never> = { rows: [], read: 0, stoppedAt: null };

/** `rowOf` returns undefined for an entry that is left out. */
export function filteredRows<T>(
  entries: Iterable<Entry>,
  limit: number,
  idOf: (entry: Entry) => number,
  rowOf: (id: number, entry: Entry) => T | undefined,
): FilteredRows<T> {
  const rows: T[] = [];
  let read = 0;
  for (const entry of entries) {
    read++;
    const id = idOf(entry);
    const row = rowOf(id, entry);
    if (row !== undefined) rows.push(row);
    if (rows.length >= limit) break;
    if (read === MAX_LOOKUPS) return { rows, read, stoppedAt: id };
  }
  return { rows, read, stoppedAt: null };
}
