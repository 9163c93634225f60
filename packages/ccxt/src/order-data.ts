/** Reads of orders and of the account's trades. */

import type { Fill, FillsOptions, OrdersOptions, Order as VenueOrder } from "@perpgate/sdk";
import {
  type Dict,
  errors,
  type Int,
  type Liquidation,
  type Market,
  type Order,
  type Trade,
} from "ccxt";
import { Margin } from "./margin.js";
import {
  ccxtSide,
  exact,
  given,
  isoOf,
  known,
  oldestFirst,
  priceOrNone,
  untilOf,
} from "./values.js";

const PAGE = 1_000;
/** Of one call that filters: the venue charges for every entry. */
const MAX_PAGES = 20;
const DEFAULT_LIMIT = 100;

/** Which orders of a list; the venue filters by symbol and time only. */
type Wanted = (order: VenueOrder) => boolean;

interface Span {
  readonly symbol: string | undefined;
  readonly since: Int;
  readonly limit: Int;
  /** Not included. */
  readonly to: Int;
}

export class OrderData extends Margin {
  override async fetchOrder(id: string, _symbol?: string, params: Dict = {}): Promise<Order> {
    await this.loadMarkets();
    return this.parseOrder(await this.venueOrder(id, params));
  }

  /** By id, or by the client id in `params`: then the newest, which is the open one if one is open. */
  protected async venueOrder(id: string, params: Dict): Promise<VenueOrder> {
    const name = clientIdIn(params);
    if (name === undefined) {
      const orderId = this.orderIdOf(id);
      return this.askSession((session) => session.order(orderId));
    }
    const wanted: OrdersOptions = { status: "all", clientOrderId: name, limit: 1 };
    const [found] = await this.askSession((session) => session.orders(wanted));
    if (found !== undefined) return found;
    throw new errors.OrderNotFound(`${this.id} has no order with the client id ${name}`);
  }

  /** @throws OrderNotFound for what is the id of no order here. */
  protected orderIdOf(id: string | undefined): string {
    const text = String(id ?? "");
    if (text === "") throw new errors.ArgumentsRequired(`${this.id} needs the id of an order`);
    if (/^\d{1,15}(\.[12])?$/.test(text)) return text;
    throw new errors.OrderNotFound(`${this.id} has no order ${text}`);
  }

  async fetchOpenOrder(id: string, symbol?: string, params: Dict = {}): Promise<Order> {
    const order = await this.fetchOrder(id, symbol, params);
    if (order.status === "open") return order;
    throw new errors.OrderNotFound(`${this.id} order ${order.id} is ${order.status}, not open`);
  }

  override async fetchOpenOrders(
    symbol?: string,
    since?: Int,
    limit?: Int,
    params: Dict = {},
  ): Promise<Order[]> {
    await this.loadMarkets();
    const market = symbol === undefined ? undefined : this.market(symbol);
    const open = await this.askSession((session) => session.openOrders());
    const to = untilOf(params) ?? Number.POSITIVE_INFINITY;
    const wanted = open.filter(
      ({ symbol: id, createdAt }) => (market === undefined || id === market.id) && createdAt < to,
    );
    return this.parseOrders(wanted, market, since, limit);
  }

  override fetchOrders(symbol?: string, since?: Int, limit?: Int, params: Dict = {}) {
    return this.ordersOf(() => true, symbol, since, limit, params);
  }

  override fetchClosedOrders(symbol?: string, since?: Int, limit?: Int, params: Dict = {}) {
    return this.ordersOf(({ status }) => status === "filled", symbol, since, limit, params);
  }

  override fetchCanceledOrders(symbol?: string, since?: Int, limit?: Int, params: Dict = {}) {
    return this.ordersOf(({ status }) => status === "canceled", symbol, since, limit, params);
  }

  override fetchCanceledAndClosedOrders(
    symbol?: string,
    since?: Int,
    limit?: Int,
    params: Dict = {},
  ) {
    const hasEnded: Wanted = ({ status }) => status === "filled" || status === "canceled";
    return this.ordersOf(hasEnded, symbol, since, limit, params);
  }

  private async ordersOf(
    wanted: Wanted,
    symbol: string | undefined,
    since: Int,
    limit: Int,
    params: Dict,
  ): Promise<Order[]> {
    await this.loadMarkets();
    const found = await this.ordersWhere(wanted, symbol, since, limit, untilOf(params));
    const market = symbol === undefined ? undefined : this.market(symbol);
    return this.parseOrders(found, market, since, limit);
  }

  private ordersWhere(
    wanted: Wanted,
    symbol: string | undefined,
    since: Int,
    limit: Int,
    to: Int,
  ): Promise<VenueOrder[]> {
    const read = (page: FillsOptions) =>
      this.askSession((session) => session.orders({ status: "all", ...page }));
    return this.entriesWhere(read, ({ orderId }) => orderId, wanted, { symbol, since, limit, to });
  }

  /**
   * The newest entries that are wanted, or with `since` the oldest from there on, in pages; oldest first.
   * The limit counts what is wanted. Entries beyond `MAX_PAGES` are not looked at.
   */
  private async entriesWhere<T>(
    read: (page: FillsOptions) => Promise<T[]>,
    idOf: (entry: T) => string,
    wanted: (entry: T) => boolean,
    { symbol, since, limit = DEFAULT_LIMIT, to }: Span,
  ): Promise<T[]> {
    const id = symbol === undefined ? undefined : this.market(symbol).id;
    const found: T[] = [];
    let cursor: FillsOptions = since === undefined ? {} : { after: "0", from: since };
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const page = await read({ limit: PAGE, ...given({ symbol: id, to }), ...cursor });
      found.push(...page.filter(wanted));
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE || found.length >= limit) break;
      cursor = since === undefined ? { before: idOf(last) } : { after: idOf(last) };
    }
    return oldestFirst(found.slice(0, limit), cursor);
  }

  override parseOrder(order: VenueOrder, market?: Market): Order {
    const { type, price, limitPrice, trigger, createdAt, updatedAt } = order;
    const isStop = type === "stop";
    const isLimit = type === "limit" || (isStop && limitPrice !== null);
    const isExit = order.reduceOnly || order.closePosition;
    const triggerPrice = isStop ? known(price) : undefined;
    const average = priceOrNone(order.avgFillPrice);
    return this.safeOrder(
      {
        info: order,
        id: order.orderId,
        clientOrderId: known(order.clientOrderId),
        timestamp: createdAt,
        datetime: isoOf(createdAt),
        // The last change of an order that is filled was its last trade; of others the venue has no time.
        lastTradeTimestamp: order.status === "filled" ? updatedAt : undefined,
        lastUpdateTimestamp: updatedAt,
        symbol: this.safeSymbol(order.symbol, market),
        type: isLimit ? "limit" : "market",
        timeInForce: order.postOnly ? "PO" : order.timeInForce.toUpperCase(),
        postOnly: order.postOnly,
        reduceOnly: isExit,
        side: ccxtSide(order.side),
        price: isLimit ? known(isStop ? limitPrice : price) : undefined,
        triggerPrice,
        stopLossPrice: isExit && trigger === "stop" ? triggerPrice : undefined,
        takeProfitPrice: isExit && trigger === "takeProfit" ? triggerPrice : undefined,
        filled: order.filledSize,
        remaining: order.remainingSize,
        average,
        cost: average === undefined ? 0 : exact(average * order.filledSize),
        status: ccxtStatusOf(order),
        fee: undefined,
        trades: undefined,
      },
      market,
    );
  }

  override async fetchMyTrades(
    symbol?: string,
    since?: Int,
    limit?: Int,
    params: Dict = {},
  ): Promise<Trade[]> {
    await this.loadMarkets();
    const fills = await this.fillsOf(symbol, since, limit, params);
    const market = symbol === undefined ? undefined : this.market(symbol);
    const trades = fills.map((fill) => this.parseFill(fill));
    return this.filterBySymbolSinceLimit(trades, market?.symbol, since, limit);
  }

  private async fillsOf(symbol: string | undefined, since: Int, limit: Int, params: Dict) {
    const id = symbol === undefined ? undefined : this.market(symbol).id;
    const [to, after] = [untilOf(params), this.fromStart(since)];
    const options = given({ symbol: id, limit, from: since, to, after });
    return oldestFirst(await this.askSession((session) => session.fills(options)), options);
  }

  override async fetchOrderTrades(id: string, symbol?: string): Promise<Trade[]> {
    const order = await this.fetchOrder(id, symbol);
    const trades: Trade[] = [];
    // Of an exit: from its order on.
    let after = `${Number.parseInt(id, 10) - 1}`;
    for (;;) {
      const page = await this.askSession((session) => session.fills({ after, limit: PAGE }));
      trades.push(
        ...page.filter(({ orderId }) => orderId === id).map((fill) => this.parseFill(fill)),
      );
      const total = trades.reduce((sum, { amount }) => sum + (amount ?? 0), 0);
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE || total >= (order.filled ?? 0)) return trades;
      after = last.id;
    }
  }

  override async fetchMyLiquidations(
    symbol?: string,
    since?: Int,
    limit?: Int,
    params: Dict = {},
  ): Promise<Liquidation[]> {
    await this.loadMarkets();
    const fills = await this.entriesWhere(
      (page) => this.askSession((session) => session.fills(page)),
      ({ id }) => id,
      ({ kind }) => kind !== "order",
      { symbol, since, limit, to: untilOf(params) },
    );
    return fills.map((fill) => this.parseLiquidation(fill, this.safeMarket(fill.symbol)));
  }

  override parseLiquidation(fill: Fill, market?: Market): Liquidation {
    return this.safeLiquidation({
      info: fill,
      symbol: this.safeSymbol(fill.symbol, market),
      contracts: fill.size,
      contractSize: 1,
      price: fill.price,
      side: ccxtSide(fill.side),
      baseValue: fill.size,
      quoteValue: exact(fill.size * fill.price),
      timestamp: fill.time,
      datetime: isoOf(fill.time),
    });
  }

  /** A fill of the account; public trades are parsed by `parseTrade`. */
  protected parseFill(fill: Fill): Trade {
    const market = this.safeMarket(fill.symbol);
    return this.safeTrade(
      {
        info: fill,
        id: fill.id,
        order: known(fill.orderId),
        timestamp: fill.time,
        datetime: isoOf(fill.time),
        symbol: market.symbol,
        side: ccxtSide(fill.side),
        takerOrMaker: fill.liquidity,
        type: undefined,
        price: fill.price,
        amount: fill.size,
        cost: exact(fill.price * fill.size),
        fee: { cost: fill.fee, currency: fill.feeCurrency },
      },
      market,
    );
  }
}

export function clientIdIn(params: Dict): string | undefined {
  const name: unknown = params.clientOrderId ?? params.clientOid;
  return typeof name === "string" ? name : undefined;
}

export function ccxtStatusOf({ status, reason }: Pick<VenueOrder, "status" | "reason">): string {
  if (status === "filled") return "closed";
  if (status !== "canceled") return "open";
  return reason === "expired" ? "expired" : "canceled";
}
