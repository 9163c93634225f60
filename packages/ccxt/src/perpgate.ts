/** The exchange class: CCXT's calls, the watch loops of market data, and here those of the account. */

import type {
  AccountFrame,
  ClosedPosition,
  Session,
  Position as VenuePosition,
} from "@perpgate/sdk";
import {
  type Balances,
  errors,
  type Int,
  type Order,
  type Position,
  type Strings,
  type Trade,
} from "ccxt";
import type { Feed } from "./feed.js";
import { PublicWatching } from "./public-streams.js";
import { isoOf } from "./values.js";

export class Perpgate extends PublicWatching {
  private readonly orderFeeds = new Map<string, Feed<Order>>();
  private readonly tradeFeeds = new Map<string, Feed<Trade>>();
  private readonly positionFeeds = new Map<string, Feed<Position>>();
  private readonly balanceFeeds = new Map<string, Feed<Balances>>();

  override async watchOrders(symbol?: string, since?: Int, limit?: Int): Promise<Order[]> {
    const { session, market } = await this.watched(symbol);
    let isFirst = true;
    const feed = this.feed(
      this.orderFeeds,
      `orders ${market ?? ""}`,
      this.options.ordersLimit,
      (push, options) =>
        session.stream.watchOrders((frame) => {
          // The orders that were open before are no update; after a gap they are.
          const isNews = frame.type === "update" || !isFirst;
          isFirst = false;
          if (!isNews) return;
          const orders = frame.orders.map((order) => this.parseOrder(order));
          push(orders.filter(isOf(market)).map((order) => [String(order.id), order]));
        }, options),
    );
    return this.filterBySymbolSinceLimit(await this.updates(feed), market, since, limit, true);
  }

  override async watchMyTrades(symbol?: string, since?: Int, limit?: Int): Promise<Trade[]> {
    const { session, market } = await this.watched(symbol);
    const feed = this.feed(
      this.tradeFeeds,
      `myTrades ${market ?? ""}`,
      this.options.tradesLimit,
      (push, options) =>
        session.stream.watchFills(({ fills }) => {
          const trades = fills.map((fill) => this.parseFill(fill));
          push(trades.filter(isOf(market)).map((trade) => [String(trade.id), trade]));
        }, options),
    );
    return this.filterBySymbolSinceLimit(await this.updates(feed), market, since, limit, true);
  }

  override async watchPositions(symbols?: Strings, since?: Int, limit?: Int): Promise<Position[]> {
    const { session } = await this.watched();
    const wanted = this.positionSymbols(symbols);
    const feed = this.feed(
      this.positionFeeds,
      positionsName(wanted),
      this.options.ordersLimit,
      (push, options) =>
        session.stream.watchPositions((frame) => {
          const positions = frame.positions.map((position) => this.watchedPosition(position));
          const own = positions.filter(({ symbol }) => isAmong(wanted, symbol));
          push(own.map((position) => [String(position.symbol), position]));
        }, options),
    );
    return this.filterBySinceLimit(await this.updates(feed), since, limit, "timestamp", true);
  }

  /** In one order, so that the same markets have one feed; none means all. */
  private positionSymbols(symbols: Strings): string[] {
    return [...new Set(this.marketSymbols(symbols) ?? [])].sort();
  }

  /** A closed position has no entry price or margin; its contracts are 0. */
  private watchedPosition(position: VenuePosition | ClosedPosition): Position {
    if ("avgEntry" in position) return this.parsePosition(position);
    const { symbol, updatedAt } = position;
    return this.safePosition({
      info: position,
      symbol: this.safeSymbol(symbol),
      timestamp: updatedAt,
      datetime: isoOf(updatedAt),
      contracts: 0,
      contractSize: 1,
      hedged: false,
      marginMode: "isolated",
    });
  }

  override async watchBalance(): Promise<Balances> {
    const { session } = await this.watched();
    const feed = this.feed(this.balanceFeeds, "balance", 1, (push, options) =>
      session.stream.watchAccount(
        (account: AccountFrame) => push([["balance", this.parseBalance(account)]]),
        options,
      ),
    );
    const [balance] = await feed.next();
    if (balance === undefined) throw new errors.NullResponse(`${this.id} has no balance`);
    return balance;
  }

  override async unWatchOrders(symbol?: string): Promise<void> {
    this.unwatch(
      `orders ${symbol === undefined ? "" : (await this.located(symbol)).market.symbol}`,
    );
  }

  override async unWatchMyTrades(symbol?: string): Promise<void> {
    const market = symbol === undefined ? "" : (await this.located(symbol)).market.symbol;
    this.unwatch(`myTrades ${market}`);
  }

  override async unWatchPositions(symbols?: Strings): Promise<void> {
    await this.loadMarkets();
    const all = symbols === undefined ? [...this.positionFeeds.keys()] : [];
    const names = all.length > 0 ? all : [positionsName(this.positionSymbols(symbols))];
    for (const name of names) this.unwatch(name);
  }

  async unWatchBalance(): Promise<void> {
    this.unwatch("balance");
  }

  private async watched(
    symbol?: string,
  ): Promise<{ session: Session; market: string | undefined }> {
    await this.loadMarkets();
    const session = await this.session();
    return { session, market: symbol === undefined ? undefined : this.market(symbol).symbol };
  }
}

function positionsName(symbols: readonly string[]): string {
  return `positions ${symbols.join(" ")}`;
}

function isAmong(symbols: readonly string[], symbol: string | undefined): boolean {
  return symbols.length === 0 || (symbol !== undefined && symbols.includes(symbol));
}

function isOf(market: string | undefined) {
  return ({ symbol }: { readonly symbol: string | undefined }): boolean =>
    market === undefined || symbol === market;
}
