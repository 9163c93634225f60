/**
 * The ticks that reached stops of which some still wait, oldest first. A stop waits if one of them is
 * younger than it and at or beyond its price. Ticks add at the end and drop what nobody needs; none looks
 * at the others.
 */

/** What a tick reached of one side and trigger of a market. */
export interface Reach {
  readonly market: number;
  /** `stopSet` of the side and trigger. */
  readonly set: number;
  /** Of the tick. */
  readonly seq: number;
  readonly markTicks: number;
  /** From version 3 on: lines in which stops wait that it was the first to reach; derived. */
  lines: number;
}

/** Words per entry in a snapshot. */
const REACH_WORDS = 4;

export class Reaches {
  private readonly entries = new Set<Reach>();
  /** What the command in progress has dropped. */
  private readonly dropped: Reach[] = [];

  get size(): number {
    return this.entries.size;
  }

  [Symbol.iterator](): IterableIterator<Reach> {
    return this.entries.values();
  }

  begin(): void {
    this.dropped.length = 0;
  }

  add(reach: Reach): void {
    this.entries.add(reach);
  }

  drop(reach: Reach): void {
    if (this.entries.delete(reach)) this.dropped.push(reach);
  }

  /** Undoes what the command of that seq has added and dropped. */
  rollback(seq: number): void {
    const before = [...this.entries, ...this.dropped].filter((each) => each.seq < seq);
    this.entries.clear();
    this.dropped.length = 0;
    for (const each of before.sort(compare)) this.entries.add(each);
  }

  /** For a snapshot: market, set, seq and mark of each. */
  words(): number[] {
    return [...this.entries].flatMap(({ market, set, seq, markTicks }) => [
      market,
      set,
      seq,
      markTicks,
    ]);
  }

  read(words: readonly number[]): void {
    for (let at = 0; at < words.length; at += REACH_WORDS) {
      const [market = 0, set = 0, seq = 0, markTicks = 0] = words.slice(at, at + REACH_WORDS);
      this.entries.add({ market, set, seq, markTicks, lines: 0 });
    }
  }
}

function compare(a: Reach, b: Reach): number {
  return a.seq - b.seq || a.market - b.market || a.set - b.set;
}
