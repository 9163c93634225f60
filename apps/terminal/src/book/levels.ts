/** A side of the book, copied into arrays that are reused by the next frame to avoid garbage. */

interface BookReader {
  copyLevels(side: "bid" | "ask", ticks: Float64Array, lots: Float64Array): number;
  depth(side: "bid" | "ask"): number;
}

const FIRST_DEPTH = 256;

export class SortedLevels {
  ticks = new Float64Array(FIRST_DEPTH);
  lots = new Float64Array(FIRST_DEPTH);
  count = 0;

  /** The best `depth` levels, or all of them. */
  read(book: BookReader, side: "bid" | "ask", depth = Number.POSITIVE_INFINITY): this {
    const wanted = Math.min(depth, book.depth(side));
    if (wanted > this.ticks.length) {
      const room = 2 ** Math.ceil(Math.log2(wanted));
      this.ticks = new Float64Array(room);
      this.lots = new Float64Array(room);
    }
    // The arrays may be longer than `depth` and are then filled further; readers stop at `count`.
    this.count = Math.min(wanted, book.copyLevels(side, this.ticks, this.lots));
    return this;
  }

  *[Symbol.iterator](): Iterator<readonly [ticks: number, lots: number]> {
    for (let at = 0; at < this.count; at++) yield [this.ticks[at]!, this.lots[at]!];
  }
}
