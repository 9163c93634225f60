/** A market's current book, kept by a stream. Callbacks get the same object every time. */

import type { BookMirror } from "@perpgate/protocol";
import type { PriceLevel } from "../reads.js";

export type MirrorSide = "bid" | "ask";

export class MirroredBook {
  /** @internal */
  isConnected = false;

  /** @internal */
  constructor(
    readonly symbol: string,
    private readonly mirror: BookMirror,
  ) {}

  /** Whether the book is connected and its checksum verified. If not, it may be old or empty. */
  get live(): boolean {
    return this.isConnected && this.mirror.live;
  }

  /** The seq of the log that the book reflects. */
  get seq(): number {
    return this.mirror.seq;
  }

  /** When the venue last changed it, in Unix milliseconds. */
  get time(): number {
    return this.mirror.time;
  }

  /** Price of one tick: price = ticks × tick. */
  get tick(): number {
    return this.mirror.tick;
  }

  /** Size of one lot: size = lots × lot. */
  get lot(): number {
    return this.mirror.lot;
  }

  get bestBid(): PriceLevel | undefined {
    return this.mirror.prices("bid", 1)[0];
  }

  get bestAsk(): PriceLevel | undefined {
    return this.mirror.prices("ask", 1)[0];
  }

  /**
   * The best bids as prices and sizes, best first. Default: all.
   *
   * @example
   * client.stream.watchBook("BTCUSD", (book) => {
   *   for (const [price, size] of book.bids(10)) console.log(price, size);
   * });
   */
  bids(depth = Number.POSITIVE_INFINITY): readonly PriceLevel[] {
    return this.mirror.prices("bid", depth);
  }

  /**
   * The best asks as prices and sizes, best first. Default: all.
   *
   * @example
   * client.stream.watchBook("BTCUSD", (book) => {
   *   const offered = book.asks(10).reduce((sum, [, size]) => sum + size, 0);
   *   console.log(offered);
   * });
   */
  asks(depth = Number.POSITIVE_INFINITY): readonly PriceLevel[] {
    return this.mirror.prices("ask", depth);
  }

  /**
   * Number of levels of a side.
   *
   * @example
   * client.stream.watchBook("BTCUSD", (book) => console.log(book.depth("bid"), book.depth("ask")));
   */
  depth(side: MirrorSide): number {
    return this.mirror.depth(side);
  }

  /**
   * The lots at a price in ticks; 0 if there is no level.
   *
   * @example
   * client.stream.watchBook("BTCUSD", (book) => console.log(book.lotsAt("bid", 650_000) * book.lot));
   */
  lotsAt(side: MirrorSide, ticks: number): number {
    return this.mirror.lotsAt(side, ticks);
  }

  /**
   * Writes the best levels, in ticks and lots, into your arrays, as many as fit, and returns the
   * count. Allocates nothing: meant for a page that draws sixty times per second.
   *
   * @example
   * const [ticks, lots] = [new Float64Array(20), new Float64Array(20)];
   * client.stream.watchBook("BTCUSD", (book) => {
   *   const count = book.copyLevels("ask", ticks, lots);
   *   for (let i = 0; i < count; i++) console.log((ticks[i] ?? 0) * book.tick, lots[i]);
   * });
   */
  copyLevels(side: MirrorSide, ticks: Float64Array, lots: Float64Array): number {
    return this.mirror.copyLevels(side, ticks, lots);
  }
}
