/**
 * Plays a recording: its books are quoted, its trades are taken, its index prices are the venue's. Times
 * keep their distances; the first event happens when the replay begins.
 */

import type { MarketUnits, Venue } from "@perpgate/venue";
import type { SandboxCommand } from "../commands.js";
import type { SandboxMarkets } from "../markets.js";
import { type RecordedEvent, type RecordedTrade, RecordingError } from "./events.js";
import type { Recording } from "./recording.js";
import type { ReplayAccounts } from "./replay-accounts.js";
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
  /** Rows of markets that the sandbox does not have, by market. */
  readonly ignored: Readonly<Record<string, number>>;
  /** Orders of the recording that the venue refused or ended, by reason: quotes and trades that are missing. */
  readonly refused: Readonly<Record<string, number>>;
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
  readonly accounts: ReplayAccounts;
  hasBook: boolean;
  hasIndex: boolean;
  index: number | undefined;
}

const DEFAULT_DEPTH = 20;
/** Until the venue has confirmed the first recorded price it refuses what is far from its own. */
const BEGIN_MS = 5_000;
/** What ends a taker that found nothing at its price: what is not there is not taken. */
const NOTHING_THERE = new Set<string>(["not_filled", "book_empty", "worst_price"]);
/** Markets of a recording, in a problem. */
const SHOWN_NAMES = 5;
/** What venues put behind the name of a base. */
const QUOTES = /[-_/]?(?:USDT|USDC|USD|PERPETUAL|PERP|SWAP)/g;

export class Replay {
  readonly over: Promise<ReplayResult>;
  isOver = false;
  /** By the recording's names; undefined: a market that the sandbox does not have. */
  private readonly traded = new Map<string, ReplayedMarket | undefined>();
  private readonly markets: ReplayedMarket[] = [];
  private readonly ignored: Record<string, number> = {};
  private readonly refused: Record<string, number> = {};
  private readonly startedMs = performance.now();
  private endedMs: number | undefined;
  private problem: string | null = null;
  private bookUpdates = 0;
  private trades = 0;
  private lastMs: number;
  private nowMs = 0;
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
    const { isOver, problem, bookUpdates, trades, ignored, refused } = this;
    return {
      isOver,
      bookUpdates,
      trades,
      recordedMs: this.lastMs - this.parts.recording.startMs,
      elapsedMs: (this.endedMs ?? performance.now()) - this.startedMs,
      ignored: { ...ignored },
      refused: { ...refused },
      problem,
    };
  }

  onCommand(): void {
    for (const { book } of this.markets) book.onCommand();
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
    this.nowMs = nowMs;
    const { recording } = this.parts;
    const untilMs = recording.startMs + (nowMs - this.startMs);
    while (!this.isOver && recording.ahead !== undefined && recording.ahead.timeMs <= untilMs) {
      const event = await recording.next();
      if (event === undefined) break;
      this.lastMs = event.timeMs;
      await this.happen(event, nowMs);
    }
    for (const market of this.markets) await this.settle(market, nowMs);
    if (this.isOver || recording.ahead !== undefined) return;
    for (const { book } of this.markets) await book.remove(nowMs);
    await recording.close();
    const { bookUpdates, trades, recordedMs, elapsedMs, ignored, refused } = this.progress;
    if (this.markets.length === 0) throw new RecordingError(this.nothingKnown());
    this.isOver = true;
    this.endedMs = performance.now();
    this.onOver({ bookUpdates, trades, recordedMs, elapsedMs, ignored, refused });
  }

  private async happen(event: RecordedEvent, nowMs: number): Promise<void> {
    const market = this.marketOf(event.symbol);
    if (market === undefined) {
      this.ignored[event.symbol] = (this.ignored[event.symbol] ?? 0) + 1;
      return;
    }
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
    const { units, book, accounts } = market;
    await book.quote(nowMs);
    const account = await accounts.taking(trade.side);
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
      leverage: accounts.leverage,
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
    const sent = await this.parts.send(order);
    if ("refusal" in sent) {
      this.note(sent.refusal, nowMs);
      return;
    }
    const reason = this.parts.venue().views.order(account.number, sent.seq)?.reason ?? undefined;
    if (reason !== undefined && !NOTHING_THERE.has(reason)) this.note(reason, nowMs);
  }

  private note(reason: string, nowMs: number): void {
    if (nowMs - this.startMs < BEGIN_MS) return;
    this.refused[reason] = (this.refused[reason] ?? 0) + 1;
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

  /** An archive's file may have all markets of an exchange. */
  private marketOf(name: string): ReplayedMarket | undefined {
    if (this.traded.has(name)) return this.traded.get(name);
    const { venue, markets } = this.parts;
    const symbol = symbolOf(name, this.symbols);
    const units = symbol === undefined ? undefined : venue().listing.named(symbol);
    const same = this.markets.find((one) => one.units.symbol === symbol);
    const market = same ?? (units === undefined ? undefined : this.newMarket(units, markets));
    this.traded.set(name, market);
    return market;
  }

  private newMarket(units: MarketUnits, markets: SandboxMarkets): ReplayedMarket {
    const { venue, send } = this.parts;
    const accounts = markets.replayAccountsOf(units.symbol);
    const depth = this.options.depth ?? DEFAULT_DEPTH;
    const onRefused = (reason: string) => this.note(reason, this.nowMs);
    const book = new ReplayedBook(units, depth, venue, accounts, send, onRefused);
    const market: ReplayedMarket = {
      units,
      book,
      accounts,
      hasBook: false,
      hasIndex: false,
      index: undefined,
    };
    this.markets.push(market);
    return market;
  }

  private get symbols(): readonly string[] {
    return this.parts.markets.definitions.map((one) => one.symbol);
  }

  private nothingKnown(): string {
    const names = [...this.traded.keys()];
    const some = names.slice(0, SHOWN_NAMES).join(", ");
    const more = names.length > SHOWN_NAMES ? ", …" : "";
    return `the recording has ${some}${more}, this sandbox has ${this.symbols.join(", ")}`;
  }
}

/** `BTCUSDT`, `BTC-PERPETUAL` and `BTC` are the market BTCUSD, if there is no closer one. */
function symbolOf(name: string, symbols: readonly string[]): string | undefined {
  const upper = name.toUpperCase();
  const base = upper.replaceAll(QUOTES, "");
  return [upper, `${base}USD`].find((symbol) => symbols.includes(symbol));
}
