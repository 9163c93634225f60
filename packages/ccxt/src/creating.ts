/** New orders. */

import type { NewOrder, Trigger } from "@perpgate/sdk";
import { type Dict, type Exchange, errors, type Num, type Order, type OrderRequest } from "ccxt";
import { type OrderLine, OrderLines } from "./order-lines.js";
import {
  newOrderOf,
  placementsOf,
  requestedTrigger,
  triggerPriceOf,
  triggerWhen,
} from "./order-request.js";

export class Creating extends OrderLines {
  override async createOrder(...order: Parameters<Exchange["createOrder"]>): Promise<Order> {
    return this.create("rest", await this.prepared(...order));
  }

  override async createOrderWs(...order: Parameters<Exchange["createOrderWs"]>): Promise<Order> {
    return this.create("socket", await this.prepared(...order));
  }

  private async create(line: OrderLine, order: NewOrder): Promise<Order> {
    const ack = await this.askLine(line, (orders) => orders.placeOrder(order));
    return this.parseAck(ack, order);
  }

  override createOrders(requests: OrderRequest[], shared: Dict = {}): Promise<Order[]> {
    return this.createMany("rest", requests, shared);
  }

  override createOrdersWs(requests: OrderRequest[], shared: Dict = {}): Promise<Order[]> {
    return this.createMany("socket", requests, shared);
  }

  private async createMany(
    line: OrderLine,
    requests: OrderRequest[],
    shared: Dict,
  ): Promise<Order[]> {
    this.checkCount("createOrders", requests);
    const orders: NewOrder[] = [];
    for (const { symbol, type, side, amount, price, params: own } of requests) {
      const params = { ...shared, ...own };
      orders.push(await this.prepared(symbol, type, side, amount, price, params));
    }
    if (orders.length === 0) return [];
    const { operations, validUntil } = placementsOf(orders);
    const results = await this.batch(line, operations, validUntil);
    return results.map((result, at) => this.resultOf(result, orders[at]));
  }

  private async prepared(
    symbol: string,
    type: string,
    side: string | undefined,
    amount: number | undefined,
    price?: Num,
    given: Dict = {},
  ): Promise<NewOrder> {
    const { id, market } = await this.located(symbol);
    const params = this.triggersOnTick(symbol, given);
    if (amount === undefined && params.margin === undefined && params.closePosition !== true) {
      throw new errors.ArgumentsRequired(`${this.id} createOrder() needs an amount`);
    }
    const direction = String(side);
    const trigger =
      requestedTrigger(direction, params) ?? (await this.triggerByMark(id, direction, params));
    return newOrderOf(
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
}
