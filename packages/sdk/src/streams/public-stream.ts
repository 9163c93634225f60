/** `client.stream`: the public streams, over one socket that reconnects. */

import {
  Block,
  type Candle,
  Candles,
  type Resolution,
  Ticker,
  type Trade,
  Trades,
  VenueStatus,
} from "@perpgate/protocol";
import type { Static, TSchema } from "typebox";
import { hasShape } from "../http/answer-shape.js";
import type { Channel, Channels } from "./channels.js";
import type { MirroredBook } from "./mirrored-book.js";
import { BookChannel, SimpleChannel } from "./public-channels.js";
import type { StreamState } from "./socket-link.js";
import type { StreamSocket } from "./stream-socket.js";
import type { Subscription, WatchOptions } from "./subscription.js";

/** Channels by stream name: the first watch of a stream creates its channel, the last one ends it. */
class ChannelRegistry<C extends Channel> {
  private readonly byStream = new Map<string, C>();

  constructor(private readonly channels: Channels) {}

  /** The channel of the stream. `create` gets a callback for when the last watch has ended. */
  getOrCreate(stream: string, create: (onEmpty: () => void) => C): C {
    const known = this.byStream.get(stream);
    if (known !== undefined) return known;
    const created = create(() => {
      this.byStream.delete(stream);
      this.channels.remove(created);
    });
    this.byStream.set(stream, created);
    this.channels.add(created);
    return created;
  }
}

export class PublicStream {
  private readonly books: ChannelRegistry<BookChannel>;
  private readonly tickers: ChannelRegistry<SimpleChannel<Ticker>>;
  private readonly candles: ChannelRegistry<SimpleChannel<Candle[]>>;
  private readonly trades: ChannelRegistry<SimpleChannel<Trade[]>>;
  private readonly blocks: ChannelRegistry<SimpleChannel<Block>>;
  private readonly status: ChannelRegistry<SimpleChannel<VenueStatus>>;

  /** @internal */
  constructor(private readonly socket: StreamSocket) {
    const { channels } = socket;
    this.books = new ChannelRegistry(channels);
    this.tickers = new ChannelRegistry(channels);
    this.candles = new ChannelRegistry(channels);
    this.trades = new ChannelRegistry(channels);
    this.blocks = new ChannelRegistry(channels);
    this.status = new ChannelRegistry(channels);
  }

  /** State of the connection. */
  get state(): StreamState {
    return this.socket.state;
  }

  /** The address of the gateway that the connection is open to. */
  get gateway(): string | undefined {
    return this.socket.gateway;
  }

  /** Milliseconds since the last message of the open connection; undefined without one. */
  get silentMs(): number | undefined {
    return this.socket.silentMs;
  }

  /**
   * At most how old what this connection has shown is, in milliseconds: the time since the newest ping that
   * was answered. It grows when messages arrive late, and falls with the answer to the ping of a heartbeat.
   * Undefined without an open connection.
   */
  get ageMs(): number | undefined {
    return this.socket.ageMs;
  }

  /**
   * Calls back whenever the state changes; returns a function that stops it.
   *
   * @example
   * const stop = client.stream.onState((state) => console.log(`stream ${state}`));
   * stop();
   */
  onState(callback: (state: StreamState) => void): () => void {
    return this.socket.onState(callback);
  }

  /**
   * Mirrors a book and calls back after each change. Every frame is checked for gaps and against the
   * book's checksum; an incorrect copy is discarded and fetched again.
   *
   * @example
   * const watch = client.stream.watchBook("BTCUSD", (book) => {
   *   console.log(book.bestBid, book.bestAsk, book.seq);
   * });
   * await watch.ready;
   * watch.close();
   */
  watchBook(
    symbol: string,
    callback: (book: MirroredBook) => void,
    options: WatchOptions = {},
  ): Subscription {
    const stream = `book.${symbol}`;
    const channel = this.books.getOrCreate(
      stream,
      (onEmpty) => new BookChannel(stream, symbol, this.socket.channels, onEmpty),
    );
    return channel.watch({ callback, options });
  }

  /**
   * Calls back with new trades, oldest first.
   *
   * @example
   * client.stream.watchTrades("BTCUSD", (trades) => {
   *   for (const { price, size, side } of trades) console.log(side, size, price);
   * });
   */
  watchTrades(
    symbol: string,
    callback: (trades: readonly Trade[]) => void,
    options: WatchOptions = {},
  ): Subscription {
    return simple(this.trades, `trades.${symbol}`, Trades, false).watch({ callback, options });
  }

  /**
   * Calls back with the current ticker and with each change.
   *
   * @example
   * client.stream.watchTicker("BTCUSD", ({ mark, last }) => console.log(mark, last));
   */
  watchTicker(
    symbol: string,
    callback: (ticker: Ticker) => void,
    options: WatchOptions = {},
  ): Subscription {
    return simple(this.tickers, `ticker.${symbol}`, Ticker, true).watch({ callback, options });
  }

  /**
   * Calls back with the previous and the current candle, first immediately and then with each trade.
   *
   * @example
   * client.stream.watchCandles("BTCUSD", "1m", (candles) => console.log(candles.at(-1)?.close));
   */
  watchCandles(
    symbol: string,
    resolution: Resolution,
    callback: (candles: readonly Candle[]) => void,
    options: WatchOptions = {},
  ): Subscription {
    const stream = `candles.${symbol}.${resolution}`;
    return simple(this.candles, stream, Candles, true).watch({ callback, options });
  }

  /**
   * Calls back with every block as it is sealed.
   *
   * @example
   * client.stream.watchBlocks(({ number, hash, ackCount }) => console.log(number, hash, ackCount));
   */
  watchBlocks(callback: (block: Block) => void, options: WatchOptions = {}): Subscription {
    return simple(this.blocks, "blocks", Block, false).watch({ callback, options });
  }

  /**
   * Calls back with the venue's stage, rules and the status of its markets, then when one of them
   * changes.
   *
   * @example
   * client.stream.watchStatus(({ stage, markets }) => console.log(stage, markets));
   */
  watchStatus(callback: (status: VenueStatus) => void, options: WatchOptions = {}): Subscription {
    return simple(this.status, "status", VenueStatus, true).watch({ callback, options });
  }

  /**
   * Ends all watches and the connection; `client.close()` does too.
   *
   * @example
   * client.stream.close();
   */
  close(): void {
    this.socket.close();
  }
}

function simple<S extends TSchema>(
  registry: ChannelRegistry<SimpleChannel<Static<S>>>,
  stream: string,
  schema: S,
  isState: boolean,
): SimpleChannel<Static<S>> {
  const read = (payload: unknown) => (hasShape(schema, payload) ? payload : undefined);
  return registry.getOrCreate(
    stream,
    (onEmpty) => new SimpleChannel(stream, read, isState, onEmpty),
  );
}
