/** Orders: create, edit, cancel. */

import type { BatchResult, NewOperation, NewOrder, Protection, Trigger } from "@perpgate/sdk";
import { protectionOf } from "@perpgate/sdk";
import { type Dict, errors, type Num, type Order, type OrderRequest } from "ccxt";
import { exceptionOf } from "./exceptions.js";
import { clientIdIn, statusOf } from "./order-data.js";
import {
  type Attached,
  attachedOf,
  newOrderOf,
  triggerOf,
  triggerPriceOf,
  triggerWhen,
} from "./order-request.js";
import { Rounding } from "./rounding.js";
import { ccxtSide, exact, given, known, priceOrNone } from "./values.js";

/** Operations of one batch. */
const BATCH = 50;

interface Prepared {
  readonly order: NewOrder;
  readonly attached: Attached;
}

export class Trading extends Rounding {
  override async createOrder(
    symbol: string,
    type: string,
    side: string,
    amount: number,
    price?: Num,
    params: Dict = {},
  ): Promise<Order> {
    const { order, attached } = await this.prepared(symbol, type, side, amount, price, params);
    const { stopLoss, takeProfit } = attached;
    if (stopLoss !== undefined || takeProfit !== undefined) {
      return this.createProtected(order, attached);
    }
    const ack = await this.askSession((session) => session.placeOrder(order));
    return this.parseAck(ack, order);
  }

  /** The order, and in the same batch what closes its position at either price. */
  private async createProtected(order: NewOrder, attached: Attached): Promise<Order> {
    const protection: Protection = { symbol: order.symbol, side: order.side, ...given(attached) };
    const results = await this.askSession(async (session) => {
      const exits = protectionOf(protection, await session.openOrders());
      return (await session.batch([{ op: "place", ...order }, ...exits])).results;
    });
    const [first, ...exits] = results;
    const placed = this.resultOf(first, order);
    if (placed.status === "rejected") throw this.refusalOf(first);
    const refused = exits.find(({ error }) => error !== undefined);
    if (refused !== undefined) {
      const { message } = this.refusalOf(refused);
      throw new errors.InvalidOrder(
        `${this.id} order ${placed.id} is ${placed.status}, but its stop-loss or take-profit was refused: ${message}`,
      );
    }
    return placed;
  }

  override async createOrders(requests: OrderRequest[]): Promise<Order[]> {
    const orders: NewOrder[] = [];
    for (const { symbol, type, side, amount, price, params = {} } of requests) {
      const { order, attached } = await this.prepared(symbol, type, side, amount, price, params);
      if (attached.stopLoss !== undefined || attached.takeProfit !== undefined) {
        throw new errors.NotSupported(`${this.id} createOrders() takes no stopLoss or takeProfit`);
      }
      orders.push(order);
    }
    const results = await this.batches(orders.map((order) => ({ op: "place", ...order })));
    return results.map((result, at) => this.resultOf(result, orders[at]));
  }

  private async prepared(
    symbol: string,
    type: string,
    side: string | undefined,
    amount: number | undefined,
    price: Num,
    given: Dict,
  ): Promise<Prepared> {
    const { id, market } = await this.located(symbol);
    const params = this.triggersOnTick(symbol, given);
    if (amount === undefined && params.margin === undefined && params.closePosition !== true) {
      throw new errors.ArgumentsRequired(`${this.id} createOrder() needs an amount`);
    }
    const direction = String(side);
    const trigger =
      triggerOf(direction, params) ?? (await this.triggerByMark(id, direction, params));
    const order = newOrderOf(
      {
        symbol: id,
        type,
        side: direction,
        amount: this.amountOnLot(symbol, amount),
        price: this.priceOnTick(symbol, price),
        leverage: this.leverageOf(market.symbol, params),
        params,
      },
      trigger,
    );
    return { order, attached: attachedOf(params) };
  }

  /** For a trigger price without a direction: the mark moves towards it from where it is. */
  private async triggerByMark(
    id: string,
    side: string,
    params: Dict,
  ): Promise<Trigger | undefined> {
    const price = triggerPriceOf(params);
    if (price === undefined) return undefined;
    const { mark } = await this.ask((client) => client.ticker(id));
    return triggerWhen(side, price > (mark ?? 0));
  }

  private async batches(operations: readonly NewOperation[]): Promise<BatchResult[]> {
    const results: BatchResult[] = [];
    for (let at = 0; at < operations.length; at += BATCH) {
      const part = operations.slice(at, at + BATCH);
      results.push(...(await this.askSession((session) => session.batch(part))).results);
    }
    return results;
  }

  /** An order of a batch; one that was refused has the status `rejected` and the error as `info`. */
  private resultOf(result: BatchResult | undefined, order: NewOrder | undefined): Order {
    if (result?.ack !== undefined && order !== undefined) return this.parseAck(result.ack, order);
    const { clientOrderId, symbol } = order ?? {};
    return this.safeOrder({
      id: undefined,
      clientOrderId,
      symbol: symbol === undefined ? undefined : this.safeSymbol(symbol),
      status: "rejected",
      info: result?.error,
    });
  }

  private refusalOf(result: BatchResult | undefined): Error {
    const { code = "unknown", message = "no result" } = result?.error ?? {};
    return new (exceptionOf(code, result?.status ?? 400))(`${this.id} ${code}: ${message}`);
  }

  /** The acknowledgement with the fields of the order that it is about. */
  private parseAck(ack: NonNullable<BatchResult["ack"]>, order: NewOrder): Order {
    const market = this.safeMarket(ack.symbol);
    const { type, size, price, limitPrice, trigger, reduceOnly = false, postOnly = false } = order;
    const isStop = type === "stop";
    const isLimit = type === "limit" || (isStop && known(limitPrice) !== undefined);
    const triggerPrice = isStop ? known(price) : undefined;
    const average = priceOrNone(ack.avgFillPrice);
    const timeInForce = (order.timeInForce ?? (isLimit ? "gtc" : "ioc")).toUpperCase();
    return this.safeOrder(
      {
        info: ack,
        id: ack.orderId,
        clientOrderId: known(ack.clientOrderId),
        symbol: market.symbol,
        type: isLimit ? "limit" : "market",
        timeInForce: postOnly ? "PO" : timeInForce,
        postOnly,
        reduceOnly,
        side: ccxtSide(ack.side),
        price: isLimit ? known(isStop ? limitPrice : price) : undefined,
        triggerPrice,
        stopLossPrice: reduceOnly && trigger === "stop" ? triggerPrice : undefined,
        takeProfitPrice: reduceOnly && trigger === "takeProfit" ? triggerPrice : undefined,
        amount: size,
        filled: ack.filledSize,
        remaining: ack.remainingSize,
        average,
        cost: average === undefined ? 0 : exact(average * ack.filledSize),
        status: statusOf(ack),
        fee: { cost: ack.feePaid, currency: market.quote },
      },
      market,
    );
  }

  override async editOrder(
    id: string,
    symbol: string,
    _type: string,
    _side: string,
    amount?: Num,
    price?: Num,
    params: Dict = {},
  ): Promise<Order> {
    await this.loadMarkets();
    const size = this.amountOnLot(symbol, amount);
    const limit = this.priceOnTick(symbol, price);
    const trigger = triggerPriceOf(this.triggersOnTick(symbol, params));
    const { orderId, type } = await this.venueOrder(id, params);
    // The price of a waiting order is its trigger; its limit is another field.
    const prices = type === "stop" ? { price: trigger, limitPrice: limit } : { price: limit };
    const changes = given({ ...prices, size, expiresAt: params.expiresAt });
    const order = await this.askSession(async (session) => {
      await session.amendOrder({ orderId, ...changes });
      return session.order(orderId);
    });
    return this.parseOrder(order);
  }

  override async cancelOrder(id: string, symbol?: string, params: Dict = {}): Promise<Order> {
    await this.loadMarkets();
    const clientOrderId = clientIdIn(params);
    const name = clientOrderId === undefined ? this.orderIdOf(id) : { clientOrderId };
    const canceled = await this.askSession((session) => session.cancelOrder(name));
    return this.canceledOrder(canceled.orderId, symbol, canceled.remainingSize, canceled);
  }

  override async cancelOrders(ids: string[], symbol?: string): Promise<Order[]> {
    await this.loadMarkets();
    const cancels = ids.map((id) => ({ op: "cancel", orderId: this.orderIdOf(id) }) as const);
    const results = await this.batches(cancels);
    return results.map((result, at) => {
      const id = ids[at] ?? "";
      if (result.error === undefined) return this.canceledOrder(id, symbol, undefined, result);
      return this.safeOrder({ id, status: "rejected", info: result.error });
    });
  }

  override async cancelAllOrders(symbol?: string): Promise<Order[]> {
    await this.loadMarkets();
    const id = symbol === undefined ? undefined : this.market(symbol).id;
    const answer = await this.askSession((session) => session.cancelAll(given({ symbol: id })));
    return answer.canceled.map((orderId) => this.canceledOrder(orderId, symbol, undefined, answer));
  }

  private canceledOrder(
    id: string,
    symbol: string | undefined,
    remaining: Num,
    info: object,
  ): Order {
    const market = symbol === undefined ? undefined : this.market(symbol).symbol;
    return this.safeOrder({ id, symbol: market, status: "canceled", remaining, info });
  }

  override async cancelAllOrdersAfter(timeout: Num): Promise<{ cancelAt: number | null }> {
    return this.askSession((session) => session.cancelAfter(timeout ?? 0));
  }

  /** Closes the whole position at the market. */
  override async closePosition(symbol: string, _side?: string, params: Dict = {}): Promise<Order> {
    const { contracts = 0, side } = await this.fetchPosition(symbol);
    if (contracts === 0) throw new errors.OperationRejected(`${this.id} no position in ${symbol}`);
    const exit = side === "long" ? "sell" : "buy";
    return this.createOrder(symbol, "market", exit, contracts, undefined, {
      ...params,
      reduceOnly: true,
    });
  }
}
