/**
 * One ordered table of the history. Reads include rows that are not on disk yet: a slice stays in
 * memory until its transaction has committed, and reads look there first.
 */
import type { GetOptions } from "lmdb";
import type { StoredTable } from "./history-environment.js";
import { groupOf, keyOf } from "./keys.js";
import type { RowTable } from "./rows.js";
import type { Slice } from "./slice.js";

export interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

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
    private readonly database: StoredTable,
    /** The table's number in slices. */
    readonly number: number,
    /** Slices that are not on disk, the oldest first. */
    private readonly recent: readonly Slice[],
    /** A read transaction, if all reads must show one moment. */
    private readonly reading: GetOptions = {},
  ) {}

  get(key: Buffer): Buffer | undefined {
    for (let i = this.recent.length - 1; i >= 0; i--) {
      const slice = this.recent[i]!;
      const offsets = slice.offsetsOf(this.number);
      for (let j = offsets.length - 1; j >= 0; j--) {
        if (slice.compareKey(offsets[j]!, key) === 0) return slice.value(offsets[j]!);
      }
    }
    return this.database.get(key, this.reading);
  }

  /** Entries with from ≤ key < to, the highest key first. */
  descending(from: Buffer, to: Buffer, limit: number): Entry[] {
    const recent = this.recentWithin(from, to).reverse();
    return merge(recent, this.reversedRange(from, to, limit), limit, (a, b) =>
      Buffer.compare(b, a),
    );
  }

  /** Entries with from ≤ key < to, the lowest key first. */
  ascending(from: Buffer, to: Buffer, limit: number): Entry[] {
    return merge(this.recentWithin(from, to), this.range(from, to, limit), limit, Buffer.compare);
  }

  private range(from: Buffer, to: Buffer, limit?: number): Iterable<Entry> {
    const bounds = { ...this.reading, start: from, end: to };
    return this.database.getRange(limit === undefined ? bounds : { ...bounds, limit });
  }

  private reversedRange(from: Buffer, to: Buffer, limit?: number): Iterable<Entry> {
    const bounds = {
      ...this.reading,
      start: to,
      end: from,
      exclusiveStart: true,
      inclusiveEnd: true,
      reverse: true,
    };
    return this.database.getRange(limit === undefined ? bounds : { ...bounds, limit });
  }

  /** The entry at a place, in one of the groups. */
  getInGroups(groups: readonly number[], place: number): Buffer | undefined {
    for (let i = this.recent.length - 1; i >= 0; i--) {
      const slice = this.recent[i]!;
      const offsets = slice.offsetsOf(this.number);
      for (let j = offsets.length - 1; j >= 0; j--) {
        const at = offsets[j]!;
        if (slice.placeAt(at) === place && groups.includes(slice.groupAt(at))) {
          return slice.value(at);
        }
      }
    }
    for (const group of groups) {
      const value = this.database.get(keyOf(group, place), this.reading);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  /**
   * Entries of several groups with from ≤ place < to, in the order of their places. Reads one range per
   * group, and of each no further than the result needs.
   */
  acrossGroups(groups: readonly number[], range: PlaceRange): Entry[] {
    const { from, to, limit, isAscending } = range;
    const direction = isAscending ? 1 : -1;
    const compare = (a: Buffer, b: Buffer) => direction * Buffer.compare(a, b);
    const recent = this.recentOfGroups(groups, range);
    const sources = groups.map((group) => {
      const [low, high] = [keyAt(group, from), keyAt(group, to)];
      const stored = isAscending ? this.range(low, high) : this.reversedRange(low, high);
      const own = (recent.get(group) ?? []).sort((a, b) => compare(a.key, b.key));
      return mergeLazily(own, stored, compare);
    });
    return firstByPlace(sources, limit, compare);
  }

  /** Rows on disk; reads all keys. */
  count(): number {
    return this.database.getKeysCount(this.reading);
  }

  /** Reads both ends, so that a damaged tree shows at the start and not under load. */
  probe(): void {
    for (const reverse of [false, true]) {
      for (const { value } of this.database.getRange({ limit: 1, reverse })) {
        if (value.length === 0) throw new Error("an entry is empty");
      }
    }
  }

  /** The latest entry of each key within the range, by group. */
  private recentOfGroups(
    groups: readonly number[],
    { from, to }: PlaceRange,
  ): ReadonlyMap<number, Entry[]> {
    const entries = new Map<string, Entry>();
    for (const slice of this.recent) {
      for (const at of slice.offsetsOf(this.number)) {
        const place = slice.placeAt(at);
        if (place < from.seq || place > to.seq) continue;
        const group = slice.groupAt(at);
        if (!groups.includes(group)) continue;
        if (slice.compareKey(at, keyAt(group, from)) < 0) continue;
        if (slice.compareKey(at, keyAt(group, to)) >= 0) continue;
        const key = slice.keyAt(at);
        entries.set(key.toString("latin1"), { key, value: slice.value(at) });
      }
    }
    const byGroup = new Map<number, Entry[]>();
    for (const entry of entries.values()) {
      const group = groupOf(entry.key);
      const own = byGroup.get(group);
      if (own === undefined) byGroup.set(group, [entry]);
      else own.push(entry);
    }
    return byGroup;
  }

  /** The latest entry of each key, the lowest key first. */
  private recentWithin(from: Buffer, to: Buffer): Entry[] {
    const entries = new Map<string, Entry>();
    for (const slice of this.recent) {
      for (const at of slice.offsetsOf(this.number)) {
        if (slice.compareKey(at, from) < 0 || slice.compareKey(at, to) >= 0) continue;
        const key = slice.keyAt(at);
        entries.set(key.toString("latin1"), { key, value: slice.value(at) });
      }
    }
    return [...entries.values()].sort((a, b) => Buffer.compare(a.key, b.key));
  }
}

function keyAt(group: number, { seq, ordinal }: Place): Buffer {
  return keyOf(group, seq, ordinal);
}

/** As `merge`, without a limit, and reading `stored` only as far as the caller does. */
function* mergeLazily(
  recent: readonly Entry[],
  stored: Iterable<Entry>,
  compare: (a: Buffer, b: Buffer) => number,
): Generator<Entry> {
  let next = 0;
  for (const entry of stored) {
    while (next < recent.length && compare(recent[next]!.key, entry.key) < 0) {
      yield recent[next++]!;
    }
    if (next < recent.length && compare(recent[next]!.key, entry.key) === 0) continue;
    yield entry;
  }
  while (next < recent.length) yield recent[next++]!;
}

/** The first entries of several lists, each sorted by place. */
function firstByPlace(
  sources: readonly Generator<Entry>[],
  limit: number,
  compare: (a: Buffer, b: Buffer) => number,
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
  for (const source of sources) source.return(undefined);
  return found;
}

/** The key without its group. */
function placeIn({ key }: Entry): Buffer {
  return key.subarray(8);
}

/** Merges two lists sorted by `compare`; a recent entry replaces a stored one with the same key. */
function merge(
  recent: readonly Entry[],
  stored: Iterable<Entry>,
  limit: number,
  compare: (a: Buffer, b: Buffer) => number,
): Entry[] {
  const merged: Entry[] = [];
  let next = 0;
  for (const entry of stored) {
    while (next < recent.length && compare(recent[next]!.key, entry.key) < 0) {
      merged.push(recent[next++]!);
    }
    if (next < recent.length && compare(recent[next]!.key, entry.key) === 0) continue;
    if (merged.length >= limit) break;
    merged.push(entry);
  }
  while (next < recent.length && merged.length < limit) merged.push(recent[next++]!);
  return merged.length > limit ? merged.slice(0, limit) : merged;
}
