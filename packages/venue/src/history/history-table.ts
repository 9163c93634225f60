/**
 * One ordered table of the history. Reads include rows that are not on disk yet: a slice stays in
 * memory until its transaction has committed, and reads look there first.
 */
import { keyOf } from "./keys.js";
import type { Entry } from "./row-codecs.js";
import type { RowTable } from "./rows.js";
import type { Slice } from "./slice.js";
import { missingIn, type RowsMissing } from "./store-read.js";
import type { StoredTable } from "./stored-table.js";

export type { Entry };

/** A row's place in the total order: the seq of its command, then its ordinal there. */
export interface Place {
  readonly seq: number;
  readonly ordinal: number;
}

export interface PlaceRange {
  /** Inclusive. */
  readonly from: Place;
  /** Exclusive. */
  readonly to: Place;
  readonly limit: number;
  readonly isAscending: boolean;
}

export class HistoryTable implements RowTable {
  constructor(
    /** Undefined while the store is being rebuilt: then only what is in memory is found. */
    private database: StoredTable | undefined,
    /** The table's number in slices. */
    readonly number: number,
    /** Slices that are not on disk, the oldest first. */
    private readonly recent: readonly Slice[],
  ) {}

  use(database: StoredTable): void {
    this.database = database;
  }

  get(key: Buffer): Buffer | undefined {
    for (let i = this.recent.length - 1; i >= 0; i--) {
      const slice = this.recent[i]!;
      const at = slice.find(this.number, key);
      if (at !== undefined) return slice.value(at);
    }
    return this.database?.get(key);
  }

  /** Entries with from ≤ key < to, the highest key first. */
  descending(from: Buffer, to: Buffer, limit: number): Entry[] {
    return first(this.latest(from, to, limit, false), limit);
  }

  /** Entries with from ≤ key < to, the lowest key first. */
  ascending(from: Buffer, to: Buffer, limit: number): Entry[] {
    return first(this.latest(from, to, limit, true), limit);
  }

  /** The entry at a place, in one of the groups. */
  getInGroups(groups: readonly number[], place: number, ordinal = 0): Buffer | undefined {
    let missing: RowsMissing | undefined;
    for (const group of groups) {
      try {
        const value = this.get(keyOf(group, place, ordinal));
        if (value !== undefined && missing === undefined) return value;
      } catch (error) {
        missing = missingIn(error);
      }
    }
    if (missing !== undefined) throw missing;
    return undefined;
  }

  /**
   * Entries of several groups with from ≤ place < to, in the order of their places. Reads one range per
   * group, and of each no further than the result needs.
   */
  acrossGroups(groups: readonly number[], range: PlaceRange): Entry[] {
    const { from, to, limit, isAscending } = range;
    const sources = groups.map((group) =>
      this.latest(keyAt(group, from), keyAt(group, to), limit, isAscending)[Symbol.iterator](),
    );
    return firstByPlace(sources, limit, comparing(isAscending));
  }

  /** Rows on disk, all or those of a condition; reads all keys. */
  count(condition?: string): number {
    return this.database?.count(condition) ?? 0;
  }

  /** Reads both ends, so that a damaged tree shows at the start and not under load. */
  probe(): void {
    this.database?.probe();
  }

  /** Up to `limit` entries with from ≤ key < to, of memory and disk; reads as far as the caller does. */
  latest(from: Buffer, to: Buffer, limit: number, isAscending: boolean): Iterable<Entry> {
    const stored = this.database?.range(from, to, limit, isAscending) ?? [];
    const sources: Iterable<Entry>[] = [];
    for (let i = this.recent.length - 1; i >= 0; i--) {
      const slice = this.recent[i]!;
      const offsets = slice.within(this.number, from, to);
      if (offsets.length > 0) sources.push(entriesAt(slice, offsets, isAscending));
    }
    return sources.length === 0 ? stored : merge([...sources, stored], comparing(isAscending));
  }
}

type Comparison = (a: Buffer, b: Buffer) => number;

function comparing(isAscending: boolean): Comparison {
  return isAscending ? Buffer.compare : (a, b) => Buffer.compare(b, a);
}

function* entriesAt(slice: Slice, offsets: Int32Array, isAscending: boolean): Generator<Entry> {
  const last = offsets.length - 1;
  for (let i = 0; i <= last; i++) {
    const at = offsets[isAscending ? i : last - i]!;
    yield { key: slice.keyAt(at), value: slice.value(at) };
  }
}

function keyAt(group: number, { seq, ordinal }: Place): Buffer {
  return keyOf(group, seq, ordinal);
}

function first(entries: Iterable<Entry>, limit: number): Entry[] {
  const found: Entry[] = [];
  if (limit <= 0) return found;
  for (const entry of entries) {
    found.push(entry);
    if (found.length >= limit) break;
  }
  return found;
}

/** Merges sorted lists; of entries with the same key that of the first list counts. */
function* merge(lists: readonly Iterable<Entry>[], compare: Comparison): Generator<Entry> {
  const sources = lists.map((list) => list[Symbol.iterator]());
  try {
    const heads = sources.map((source) => source.next());
    for (;;) {
      let [index, lowest]: [number, Entry | undefined] = [-1, undefined];
      for (let i = 0; i < heads.length; i++) {
        const { done, value } = heads[i]!;
        if (done === true) continue;
        const order = lowest === undefined ? -1 : compare(value.key, lowest.key);
        if (order < 0) [index, lowest] = [i, value];
        else if (order === 0) heads[i] = sources[i]!.next();
      }
      if (lowest === undefined) return;
      yield lowest;
      heads[index] = sources[index]!.next();
    }
  } finally {
    // Ends the read of the disk.
    for (const source of sources) source.return?.();
  }
}

/** The first entries of several lists, each sorted by place. */
function firstByPlace(
  sources: readonly Iterator<Entry>[],
  limit: number,
  compare: Comparison,
): Entry[] {
  const found: Entry[] = [];
  const heads = sources.map((source) => source.next());
  while (found.length < limit) {
    let first = -1;
    let entry: Entry | undefined;
    for (const [i, { done, value }] of heads.entries()) {
      if (done === true) continue;
      if (entry !== undefined && compare(placeIn(value), placeIn(entry)) >= 0) continue;
      [first, entry] = [i, value];
    }
    if (entry === undefined) break;
    found.push(entry);
    heads[first] = sources[first]!.next();
  }
  // Ends the reads of the disk that are still open.
  for (const source of sources) source.return?.();
  return found;
}

/** The key without its group. */
function placeIn({ key }: Entry): Buffer {
  return key.subarray(8);
}
