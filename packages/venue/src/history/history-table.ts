/**
 * One ordered table of the history. Reads include rows that are not on disk yet: a slice stays in
 * memory until its transaction has committed, and reads look there first.
 */
import type { GetOptions } from "lmdb";
import type { StoredTable } from "./history-environment.js";
import type { RowTable } from "./rows.js";
import type { Slice } from "./slice.js";

export interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
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
    const stored = this.database.getRange({
      ...this.reading,
      start: to,
      end: from,
      exclusiveStart: true,
      inclusiveEnd: true,
      reverse: true,
      limit,
    });
    return merge(recent, stored, limit, (a, b) => Buffer.compare(b, a));
  }

  /** Entries with from ≤ key < to, the lowest key first. */
  ascending(from: Buffer, to: Buffer, limit: number): Entry[] {
    const stored = this.database.getRange({ ...this.reading, start: from, end: to, limit });
    return merge(this.recentWithin(from, to), stored, limit, Buffer.compare);
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
