/**
 * Pages of rows by their place in the log. Times are found through the blocks, whose headers have both
 * times and positions: one binary search gives the block in which a span of time begins or ends, another
 * the row in it. So no row is read that is not in the page, however many a block has.
 */
import type { SealedBlock } from "../blocks/block-header.js";
import type { TableName } from "./history-environment.js";
import type { Entry, HistoryTable, Place, PlaceRange } from "./history-table.js";
import { MAX_ORDINAL, ordinalOf, placeOf } from "./keys.js";
import { storedRow } from "./rows.js";
import { missingIn, together } from "./store-read.js";

/** Which rows: `after` and `before` are exclusive, and fromMs ≤ time < toMs. */
export interface RowPageQuery {
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
  /** Whether all rows before the window are left out; of orders some stay. */
  readonly endsAtEdge: boolean;
}

type BlockSpan = Pick<SealedBlock, "number" | "firstPosition" | "lastPosition" | "timeMs" | "hash">;

/** The blocks of the history. */
export interface BlockTimes {
  block(number: number): BlockSpan | undefined;
  newestBlock(): BlockSpan | undefined;
  /** Of the last command, which may be in the open block. */
  readonly seq: number;
  /** Where the window begins (retention.ts). */
  readonly historyBefore: number;
}

const FIRST: Place = { seq: 0, ordinal: 0 };
export const LAST: Place = { seq: Number.MAX_SAFE_INTEGER, ordinal: MAX_ORDINAL };

/** The rows of the groups, merged. */
export function readPage(
  paged: PagedTable,
  groups: readonly number[],
  query: RowPageQuery,
  blocks: BlockTimes,
): PlacedRow[] {
  const range = rangeOf(paged, groups, query, blocks);
  if (range === undefined) return [];
  const { table, name, lengths } = paged;
  return table.acrossGroups(groups, range).map((entry) => placedRow(entry, name, lengths));
}

/** Where the rows of a query are; undefined if it excludes all. */
export function rangeOf(
  paged: PagedTable,
  groups: readonly number[],
  { limit, after, before = LAST, fromMs, toMs }: RowPageQuery,
  blocks: BlockTimes,
): PlaceRange | undefined {
  const rows = { paged, groups, blocks };
  const edge = paged.endsAtEdge ? blocks.historyBefore : 0;
  const begins = later(after === undefined ? FIRST : placeAfter(after), edge);
  const from = later(begins, firstSeqFrom(rows, fromMs, 0));
  const to = earlier(before, firstSeqFrom(rows, toMs, LAST.seq));
  return isBefore(from, to) ? { from, to, limit, isAscending: after !== undefined } : undefined;
}

export function placedRow(
  { key, value }: Entry,
  table: TableName,
  words?: number | readonly number[],
): PlacedRow {
  return { seq: placeOf(key), ordinal: ordinalOf(key), row: storedRow(value, table, words) };
}

interface RowsInBlocks {
  readonly paged: PagedTable;
  readonly groups: readonly number[];
  readonly blocks: BlockTimes;
}

/** A seq with every row before `timeMs` below it and all others not; `otherwise` without a time. */
function firstSeqFrom(
  { paged, groups, blocks }: RowsInBlocks,
  timeMs: number | undefined,
  otherwise: number,
): number {
  if (timeMs === undefined) return otherwise;
  const { table, name, lengths, timeWord } = paged;
  const newest = blocks.newestBlock();
  const block =
    newest === undefined
      ? undefined
      : firstBlockWhere(blocks, newest, (each) => each.timeMs >= timeMs);
  // Beyond the sealed blocks is the open one.
  let low = block?.firstPosition ?? (newest === undefined ? 0 : newest.lastPosition + 1);
  let high = (block?.lastPosition ?? blocks.seq) + 1;
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2);
    const range = { from: { seq: middle, ordinal: 0 }, to: { seq: high, ordinal: 0 } };
    const [entry] = table.acrossGroups(groups, { ...range, limit: 1, isAscending: true });
    const found = entry === undefined ? undefined : placedRow(entry, name, lengths);
    if (found !== undefined && found.row[timeWord]! < timeMs) low = found.seq + 1;
    else high = middle;
  }
  return low;
}

/** The first block like that; all later ones must be, too. */
export function firstBlockWhere(
  blocks: Pick<BlockTimes, "block">,
  newest: BlockSpan,
  isLike: (block: BlockSpan) => boolean,
): BlockSpan | undefined {
  if (!isLike(newest)) return undefined;
  let found = newest;
  let low = 1;
  while (low < found.number) {
    const middle = Math.floor((low + found.number) / 2);
    const block = middleBlock(blocks, low, found.number);
    if (block !== undefined && isLike(block)) found = block;
    else low = middle + 1;
  }
  return found;
}

/** Steps of a search whose blocks are fetched at once. */
const STEPS_AT_ONCE = 4;

/** The block in the middle; if it is not fetched, it is fetched together with those of the search's next steps. */
function middleBlock(
  blocks: Pick<BlockTimes, "block">,
  low: number,
  high: number,
  steps = STEPS_AT_ONCE,
): BlockSpan | undefined {
  const middle = Math.floor((low + high) / 2);
  try {
    return blocks.block(middle);
  } catch (error) {
    const missing = missingIn(error);
    if (steps === 1 || low >= high) throw missing;
    const halves: [number, number][] = [
      [low, middle],
      [middle + 1, high],
    ];
    together(halves, ([from, to]) => middleBlock(blocks, from, to, steps - 1));
    throw missing;
  }
}

/** The first place after this one. */
export function placeAfter({ seq, ordinal }: Place): Place {
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
