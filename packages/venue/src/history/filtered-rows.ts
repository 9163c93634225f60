/** Lists whose filter is no part of the key: entries are read until the page is full, up to a bound. */
import type { Entry } from "./history-table.js";
import { missingIn, type RowsMissing } from "./store-read.js";

/** Entries that one list reads at most: about 15 ms of work where all are left out without their rows. */
export const MAX_LOOKUPS = 10_000;
/** Rows behind such entries that it reads and leaves out at most: about 10 ms. */
const MAX_LEFT_OUT = 1_000;

export interface FilteredRows<T> {
  readonly rows: readonly T[];
  /** Entries that were read, also those that are left out. */
  readonly read: number;
  /** Where the bound ended a page that was not full: the id of the last entry. Otherwise null. */
  readonly stoppedAt: number | null;
}

export const NO_ROWS: FilteredRows<never> = { rows: [], read: 0, stoppedAt: null };

/** `rowOf` returns undefined for an entry that is left out, and null if its row was read for that. */
export function filteredRows<T>(
  entries: Iterable<Entry>,
  limit: number,
  idOf: (entry: Entry) => number,
  rowOf: (id: number, entry: Entry) => T | null | undefined,
): FilteredRows<T> {
  const rows: T[] = [];
  let read = 0;
  let leftOut = 0;
  // Rows that are not fetched yet: it goes on as if they were in the page, so that they are fetched together.
  let missing: RowsMissing | undefined;
  let notFetched = 0;
  const end = (stoppedAt: number | null): FilteredRows<T> => {
    if (missing !== undefined) throw missing;
    return { rows, read, stoppedAt };
  };
  for (const entry of entries) {
    read++;
    const id = idOf(entry);
    try {
      const row = rowOf(id, entry);
      if (row === null) leftOut++;
      else if (row !== undefined) rows.push(row);
    } catch (error) {
      missing = missingIn(error);
      notFetched++;
    }
    if (rows.length + notFetched >= limit) break;
    if (read === MAX_LOOKUPS || leftOut + notFetched >= MAX_LEFT_OUT) return end(id);
  }
  return end(null);
}
