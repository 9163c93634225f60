/**
 * One ordered table of the history. Reads see what was put a moment ago, although it reaches the
 * disk later: an entry stays in memory until its transaction has committed, and ranges merge the
 * two. What is in memory is bounded by what the write queue has yet to commit.
 */
import type { Database } from "lmdb";

export interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** An entry on its way to the disk. */
export interface Pending {
  readonly table: HistoryTable;
  readonly key: Buffer;
  readonly text: string;
  value: Buffer;
  /** The transaction that will hold it. */
  readonly slice: number;
}

export class HistoryTable {
  private readonly pending = new Map<string, Pending>();

  constructor(readonly database: Database<Buffer, Buffer>) {}

  get(key: Buffer): Buffer | undefined {
    return this.pending.get(textOf(key))?.value ?? this.database.get(key);
  }

  /** Notes a value; answers the entry if the slice does not hold the key yet. */
  put(key: Buffer, value: Buffer, slice: number): Pending | undefined {
    const text = textOf(key);
    const known = this.pending.get(text);
    if (known !== undefined && known.slice === slice) {
      known.value = value;
      return undefined;
    }
    const entry: Pending = { table: this, key, text, value, slice };
    this.pending.set(text, entry);
    return entry;
  }

  /** Forgets an entry that has committed, unless a newer one has taken its place. */
  committed(entry: Pending): void {
    if (this.pending.get(entry.text) === entry) this.pending.delete(entry.text);
  }

  /** Entries with from ≤ key < to, the highest key first. */
  descending(from: Buffer, to: Buffer, limit: number): Entry[] {
    const recent = this.pendingWithin(from, to).reverse();
    const stored = this.database.getRange({
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
    const stored = this.database.getRange({ start: from, end: to, limit });
    return merge(this.pendingWithin(from, to), stored, limit, Buffer.compare);
  }

  private pendingWithin(from: Buffer, to: Buffer): Entry[] {
    const low = textOf(from);
    const high = textOf(to);
    const entries: Pending[] = [];
    for (const entry of this.pending.values()) {
      if (entry.text >= low && entry.text < high) entries.push(entry);
    }
    return entries.sort((a, b) => (a.text < b.text ? -1 : 1));
  }
}

/** One character a byte, so that texts sort as their bytes do. */
function textOf(key: Buffer): string {
  return key.toString("latin1");
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
