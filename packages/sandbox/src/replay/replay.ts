/**
 * Plays a recording: its books are quoted, its trades are taken, its index prices are the venue's. Times
 * keep their distances; the first event happens when the replay begins.
 */

import type { MarketUnits, Venue } from "@perpgate/venue";
import type { AccountRotation } from "../accounts.js";
import type { SandboxCommand } from "../commands.js";
import type { SandboxMarkets } from "../markets.js";
import { type RecordedEvent, type RecordedTrade, RecordingError } from "./events.js";
import type { Recording } from "./recording.js";
import { lotsOf, ReplayedBook, type Send, ticksOf } from "./replayed-book.js";

export interface ReplayOptions {
  /** Levels of each side that are quoted. Default: 20. */
  readonly depth?: number;
}

export interface ReplayResult {
  /** Changes of levels. */
  readonly bookUpdates: number;
  readonly trades: number;
  /** Of the recording. */
  readonly recordedMs: number;
  /** Of the machine's clock. */
  readonly elapsedMs: number;
}

export interface ReplayProgress extends ReplayResult {
  readonly isOver: boolean;
  /** Why it ended before its end. */
  readonly problem: string | null;
}

interface ReplayParts {
  readonly recording: Recording;
  readonly markets: SandboxMarkets;
  readonly venue: () => Venue;
  readonly send: Send;
}

interface ReplayedMarket {
  readonly units: MarketUnits;
  readonly book: ReplayedBook;
  readonly takers: AccountRotation;
  hasBook: boolean;
  hasIndex: boolean;
  index: number | undefined;
}

const DEFAULT_DEPTH = 20;
const LEVERAGE = 10;
/** What venues put behind the name of a base. */
const QUOTES = /[-_/]?(?:USDT|USDC|USD|PERPETUAL|PERP|SWAP)/g;

export class Replay {
  readonly over: Promise<ReplayResult>;
  isOver = false;
  private readonly traded = new Map<string, ReplayedMarket>();
  private readonly startedMs = performance.now();
  private endedMs: number | undefined;
  private problem: string | null = null;
  private bookUpdates = 0;
  private trades = 0;
  private lastMs: number;
  private onOver: (result: ReplayResult) => void = () => undefined;
  private onFailed: (error: unknown) => void = () => undefined;

  constructor(
    private readonly parts: ReplayParts,
    private readonly startMs: number,
    private readonly options: ReplayOptions,
  ) {
    this.lastMs = parts.recording.startMs;
    this.over = new Promise((resolve, reject) => {
      this.onOver = resolve;
      this.onFailed = reject;
    });
    // `replay` may have been called by one that does not wait.
    this.over.catch(() => undefined);
  }

  get progress(): ReplayProgress {
    const { isOver, problem, bookUpdates, trades } = this;
    return {
      isOver,
      bookUpdates,
      trades,
      recordedMs: this.lastMs - this.parts.recording.startMs,
      elapsedMs: (this.endedMs ?? performance.now()) - this.startedMs,
      problem,
    };
  }

  onCommand(): void {
    for (const { book } of this.traded.values()) book.onCommand();
  }

  /** What has happened until this time. */
  async follow(nowMs: number): Promise<void> {
    if (this.isOver) return;
    try {
      await this.play(nowMs);
    } catch (error) {
      const isRefused = error instanceof RangeError && !(error instanceof RecordingError);
      this.fail(isRefused ? this.parts.recording.problem(error.message) : error);
    }
  }

  /** Ends it before its end. */
  fail(error: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    this.endedMs = performance.now();
    this.problem = error instanceof Error ? error.message : String(error);
    void this.parts.recording.close();
    this.onFailed(error);
  }

  private async play(nowMs: number): Promise<void> {
    const { recording } = this.parts;
    const untilMs = recording.startMs + (nowMs - this.startMs);
    while (!this.isOver && recording.ahead !== undefined && recording.ahead.timeMs <= untilMs) {
      const event = await recording.next();
      if (event === undefined) break;
      this.lastMs = event.timeMs;
      await this.happen(event, nowMs);
    }
    for (const market of this.traded.values()) await this.settle(market, nowMs);
    if (this.isOver || recording.ahead !== undefined) return;
    for (const { book } of this.traded.values()) await book.remove(nowMs);
    await recording.close();
    this.isOver = true;
    this.endedMs = performance.now();
    const { bookUpdates, trades, recordedMs, elapsedMs } = this.progress;
    this.onOver({ bookUpdates, trades, recordedMs, elapsedMs });
  }

  private async happen(event: RecordedEvent, nowMs: number): Promise<void> {
    const market = this.marketOf(event.symbol);
    if (event.kind === "index") {
      market.hasIndex = true;
      market.index = event.price;
      return;
    }
    if (event.kind === "trade") {
      this.trades++;
      if (!market.hasBook && !market.hasIndex) market.index = event.price;
      await this.take(market, event, nowMs);
      return;
    }
    if (!market.hasBook) {
      market.hasBook = true;
      // What the sandbox quotes itself makes room.
      await this.parts.markets.quote(market.units.symbol, false, nowMs);
    }
    if (event.kind === "cleared") {
      market.book.clear();
      return;
    }
    this.bookUpdates++;
    market.book.set(event);
  }

  /** The recorded taker takes at most to the recorded price; what is not there is not taken. */
  private async take(market: ReplayedMarket, trade: RecordedTrade, nowMs: number): Promise<void> {
    const { units, book, takers } = market;
    await book.quote(nowMs);
    const account = await takers.next();
    const order: SandboxCommand<"PlaceOrder"> = {
      kind: "PlaceOrder",
      stampMs: nowMs,
      session: account.session,
      key: account.key,
      nonce: account.nonce++,
      market: units.number,
      side: trade.side,
      type: 0,
      marginMicros: 0,
      leverage: LEVERAGE,
      priceTicks: ticksOf(units, trade.price),
      reduceOnly: false,
      postOnly: false,
      extras: {
        sizeLots: Math.max(1, lotsOf(units, trade.size)),
        timeInForce: 1,
        expiresAtMs: 0,
        clientOrderId: "",
        trigger: 0,
        limitTicks: 0,
        closePosition: false,
        selfTrade: 0,
        validUntilMs: 0,
      },
    };
    await this.parts.send(order);
  }

  /** At the end of a tick. */
  private async settle(market: ReplayedMarket, nowMs: number): Promise<void> {
    const { units, book, hasIndex, hasBook } = market;
    if (hasBook) await book.quote(nowMs);
    const index = hasIndex || !hasBook ? market.index : (book.middle ?? market.index);
    if (index === undefined) return;
    const { markets } = this.parts;
    if (markets.priceOf(units.symbol, nowMs) !== index) markets.move(units.symbol, index, nowMs, 0);
  }

  private marketOf(name: string): ReplayedMarket {
    const known = this.traded.get(name);
    if (known !== undefined) return known;
    const { venue, markets, send, recording } = this.parts;
    const symbols = markets.definitions.map((one) => one.symbol);
    const symbol = symbolOf(name, symbols);
    const units = symbol === undefined ? undefined : venue().listing.named(symbol);
    if (symbol === undefined || units === undefined) {
      throw recording.problem(`the recording has ${name}, this sandbox has ${symbols.join(", ")}`);
    }
    const same = [...this.traded.values()].find((one) => one.units.symbol === symbol);
    const made = same ?? {
      units,
      book: new ReplayedBook(
        units,
        this.options.depth ?? DEFAULT_DEPTH,
        venue,
        markets.rotationOf(`replayed-maker/${units.number}`, symbol),
        send,
      ),
      takers: markets.rotationOf(`replayed-taker/${units.number}`, symbol),
      hasBook: false,
      hasIndex: false,
      index: undefined,
    };
    this.traded.set(name, made);
    return made;
  }
}

/** `BTCUSDT`, `BTC-PERPETUAL` and `BTC` are the market BTCUSD, if there is no closer one. */
function symbolOf(name: string, symbols: readonly string[]): string | undefined {
  const upper = name.toUpperCase();
  const base = upper.replaceAll(QUOTES, "");
  return [upper, `${base}USD`].find((symbol) => symbols.includes(symbol));
}
