/**
 * Where the rebuilt book and the exchange's own differ, and since when. A difference at a price that
 * stays the same over several snapshots has a lasting cause; one that the next snapshot does not
 * show was two messages crossing on the way.
 */
import type { BookEvent, BookSide } from "./feed.js";
import type { FeedBook } from "./feed-book.js";

export interface Difference {
  readonly side: BookSide;
  readonly cents: number;
  /** The exchange's size less ours. */
  readonly satoshi: number;
  /** How many levels from the best the exchange shows it, or where ours would be. */
  readonly depth: number;
}

const SIDES: readonly BookSide[] = ["bids", "asks"];

export function differences(book: FeedBook, shown: BookEvent): Difference[] {
  const found: Difference[] = [];
  for (const side of SIDES) {
    const theirs = new Map(shown[side]);
    const prices = shown[side].map(([cents]) => cents);
    const ours = book.upTo(side, prices.at(-1)!);
    const depthOf = (cents: number): number =>
      prices.filter((price) => (side === "bids" ? price > cents : price < cents)).length;
    for (const cents of new Set([...theirs.keys(), ...ours.keys()])) {
      const satoshi = (theirs.get(cents) ?? 0) - (ours.get(cents) ?? 0);
      if (satoshi !== 0) found.push({ side, cents, satoshi, depth: depthOf(cents) });
    }
  }
  return found;
}

export type Cause = "silent" | "zombie" | "asynchronous";

/** Names the cause of each difference once the whole recording has been seen. */
export class Causes {
  private readonly seen = new Map<string, number>();

  observe(list: readonly Difference[]): void {
    for (const each of list) this.seen.set(keyOf(each), (this.seen.get(keyOf(each)) ?? 0) + 1);
  }

  of(difference: Difference): Cause {
    if (this.seen.get(keyOf(difference)) === 1) return "asynchronous";
    return difference.satoshi > 0 ? "silent" : "zombie";
  }

  /** Prices with a lasting difference, by cause. */
  lasting(cause: Cause): number {
    const prices = new Set<string>();
    for (const [key, times] of this.seen) {
      const [side, cents, satoshi] = key.split(" ");
      const isSilent = Number(satoshi) > 0;
      if (times > 1 && isSilent === (cause === "silent")) prices.add(`${side} ${cents}`);
    }
    return prices.size;
  }
}

function keyOf(difference: Difference): string {
  return `${difference.side} ${difference.cents} ${difference.satoshi}`;
}
