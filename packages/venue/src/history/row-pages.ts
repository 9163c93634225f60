/**
 * Pages of rows by their place in the log. Times are found through the blocks, whose headers have both
 * times and positions: a binary search gives the blocks at the ends of a span of time, and only rows of
 * those two are read and passed over.
 */
import type { SealedBlock } from "../blocks/block-header.js";
import type { TableName } from "./history-environment.js";
import type { Entry, HistoryTable, Place } from "./history-table.js";
import { MAX_ORDINAL, ordinalOf, placeOf } from "./keys.js";
import { storedRow } from "./rows.js";

/** Which rows: `after` and `before` are exclusive, and fromMs ≤ time < toMs. */
export interface PageQuery {
  readonly limit: number;
  /** With it the oldest come first, otherwise the newest. */
  readonly after?: Place | undefined;
  readonly before?: Place | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

/** A row with its place in the total order. */
export interface PlacedRow extends Place {
  readonly row: readonly number[];
}

export interface PagedTable {
  readonly table: HistoryTable;
  readonly name: TableName;
  readonly lengths: number | readonly number[];
  /** The word of a row with its time. */
  readonly timeWord: number;
}

/** The blocks of the history. */
export interface BlockTimes {
  block(number: number): SealedBlock | undefined;
  newestBlock(): SealedBlock | undefined;
}

export const FIRST: Place = { seq: 0, ordinal: 0 };
export const LAST: Place = { seq: Number.MAX_SAFE_INTEGER, ordinal: MAX_ORDINAL };
/** Rows read in one go where some may be passed over. */
const CHUNK = 64;

/** The rows of the groups, merged. */
export function readPage(
  { table, name, lengths, timeWord }: PagedTable,
  groups: readonly number[],
  query: PageQuery,
  blocks: BlockTimes,
): PlacedRow[] {
  const { limit, after, before = LAST, fromMs = 0, toMs = Number.POSITIVE_INFINITY } = query;
  const isAscending = after !== undefined;
  const isTimed = query.fromMs !== undefined || query.toMs !== undefined;
  let from = later(after === undefined ? FIRST : next(after), firstSeqFrom(blocks, query.fromMs));
  let to = earlier(before, endSeqOf(blocks, query.toMs));
  const rows: PlacedRow[] = [];
  while (isBefore(from, to)) {
    const wanted = limit - rows.length;
    const chunk = isTimed ? Math.max(CHUNK, wanted) : wanted;
    const entries = table.acrossGroups(groups, { from, to, limit: chunk, isAscending });
    for (const entry of entries) {
      const placed = placedRow(entry, name, lengths);
      const timeMs = placed.row[timeWord]!;
      if (timeMs >= fromMs && timeMs < toMs) rows.push(placed);
    }
    const last = entries.at(-1);
    if (last === undefined || entries.length < chunk || rows.length >= limit) break;
    const place = { seq: placeOf(last.key), ordinal: ordinalOf(last.key) };
    if (isAscending) from = next(place);
    else to = place;
  }
  return rows.length > limit ? rows.slice(0, limit) : rows;
}

export function placedRow(
  { key, value }: Entry,
  table: TableName,
  words?: number | readonly number[],
): PlacedRow {
  return { seq: placeOf(key), ordinal: ordinalOf(key), row: storedRow(value, table, words) };
}

/** The lowest seq that a command of that time or later may have. */
function firstSeqFrom(blocks: BlockTimes, timeMs: number | undefined): number {
  if (timeMs === undefined) return 0;
  const newest = blocks.newestBlock();
  if (newest === undefined) return 0;
  const block = firstBlockFrom(blocks, newest, timeMs);
  return block?.firstPosition ?? newest.lastPosition + 1;
}

/** Above every seq that a command before that time may have. */
function endSeqOf(blocks: BlockTimes, timeMs: number | undefined): number {
  if (timeMs === undefined) return LAST.seq;
  const newest = blocks.newestBlock();
  const block = newest === undefined ? undefined : firstBlockFrom(blocks, newest, timeMs);
  return block === undefined ? LAST.seq : block.lastPosition + 1;
}

/** The first block that was sealed at that time or later. */
function firstBlockFrom(
  blocks: BlockTimes,
  newest: SealedBlock,
  timeMs: number,
): SealedBlock | undefined {
  if (newest.timeMs < timeMs) return undefined;
  let found = newest;
  let low = 1;
  while (low < found.number) {
    const middle = Math.floor((low + found.number) / 2);
    const block = blocks.block(middle);
    if (block !== undefined && block.timeMs >= timeMs) found = block;
    else low = middle + 1;
  }
  return found;
}

/** The first place after this one. */
export function next({ seq, ordinal }: Place): Place {
  return ordinal >= MAX_ORDINAL ? { seq: seq + 1, ordinal: 0 } : { seq, ordinal: ordinal + 1 };
}

function later(place: Place, seq: number): Place {
  return place.seq >= seq ? place : { seq, ordinal: 0 };
}

function earlier(place: Place, seq: number): Place {
  return place.seq < seq ? place : { seq, ordinal: 0 };
}

function isBefore(a: Place, b: Place): boolean {
  return a.seq < b.seq || (a.seq === b.seq && a.ordinal < b.ordinal);
}
