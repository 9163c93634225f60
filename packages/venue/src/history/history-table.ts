/**
 * One ordered table of the history. Reads see what was put a moment ago, although it reaches the
 * disk later: a slice stays in memory until its transaction has committed, and reads look there
 * first. What is in memory is bounded by what the write queue has yet to commit.
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
    /** By which slices name it. */
    readonly number: number,
    /** Slices that are not on disk, the oldest first. */
    private readonly recent: readonly Slice[],
    /** A transaction to read in, where all reads must show one moment. */
    private readonly reading: GetOptions = {},
  ) {}

  get(key: Buffer): Buffer | undefined {
    for (let i = this.recent.length - 1; i >= 0; i--) {
      const slice = this.recent[i]!;
      const places = slice.placesOf(this.number);
      for (let j = places.length - 1; j >= 0; j--) {
        if (slice.compareKey(places[j]!, key) === 0) return slice.value(places[j]!);
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

  /** Rows on disk. It goes through all of them. */
  count(): number {
    return this.database.getKeysCount(this.reading);
  }

  /** Opens both ends: a tree that cannot be walked shows here, not under load. */
  probe(): void {
    for (const reverse of [false, true]) {
      for (const { value } of this.database.getRange({ limit: 1, reverse })) {
        if (value.length === 0) throw new Error("an entry is empty");
      }
    }
  }

  /** What was put last under each key, the lowest key first. */
  private recentWithin(from: Buffer, to: Buffer): Entry[] {
    const entries = new Map<string, Entry>();
    for (const slice of this.recent) {
      for (const at of slice.placesOf(this.number)) {
        if (slice.compareKey(at, from) < 0 || slice.compareKey(at, to) >= 0) continue;
        const key = slice.keyAt(at);
        entries.set(key.toString("latin1"), { key, value: slice.value(at) });
      }
    }
    return [...entries.values()].sort((a, b) => Buffer.compare(a.key, b.key));
  }
}

/** Both are sorted alike; where both have a key, the recent one counts. */
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
