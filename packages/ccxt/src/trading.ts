/** Orders and positions that end. */

import type { BatchResult } from "@perpgate/sdk";
import { type Dict, errors, type Num, type Order } from "ccxt";
import { Editing } from "./editing.js";
import { clientIdIn } from "./order-data.js";
import { BATCH, type OrderLine } from "./order-lines.js";
import { given } from "./values.js";

export class Trading extends Editing {
  override cancelOrder(id: string, symbol?: string, params: Dict = {}): Promise<Order> {
    return this.cancel("rest", id, symbol, params);
  }

  override cancelOrderWs(id: string, symbol?: string, params: Dict = {}): Promise<Order> {
    return this.cancel("socket", id, symbol, params);
  }

  private async cancel(
    line: OrderLine,
    id: string,
    symbol: string | undefined,
    params: Dict,
  ): Promise<Order> {
    await this.loadMarkets();
    const clientOrderId = clientIdIn(params);
    const name = clientOrderId === undefined ? this.orderIdOf(id) : { clientOrderId };
    const options = given({ validUntil: params.validUntil });
    const canceled = await this.askLine(line, (orders) => orders.cancelOrder(name, options));
    return this.canceledOrder(canceled.orderId, symbol, canceled.remainingSize, canceled);
  }

  override cancelOrders(ids: string[], symbol?: string, params: Dict = {}): Promise<Order[]> {
    return this.cancelMany("rest", ids, symbol, params);
  }

  override cancelOrdersWs(ids: string[], symbol?: string, params: Dict = {}): Promise<Order[]> {
    return this.cancelMany("socket", ids, symbol, params);
  }

  /** In batches; where one fails, the orders of those before it are canceled. */
  private async cancelMany(
    line: OrderLine,
    ids: string[],
    symbol: string | undefined,
    { validUntil }: Dict,
  ): Promise<Order[]> {
    await this.loadMarkets();
    const cancels = ids.map((id) => ({ op: "cancel", orderId: this.orderIdOf(id) }) as const);
    const results: BatchResult[] = [];
    for (let at = 0; at < cancels.length; at += BATCH) {
      results.push(...(await this.batch(line, cancels.slice(at, at + BATCH), validUntil)));
    }
    return results.map((result, at) => {
      const id = ids[at] ?? "";
      if (result.error === undefined) return this.canceledOrder(id, symbol, undefined, result);
      return this.safeOrder({ id, status: "rejected", info: result.error });
    });
  }

  override cancelAllOrders(symbol?: string): Promise<Order[]> {
    return this.cancelAll("rest", symbol);
  }

  override cancelAllOrdersWs(symbol?: string): Promise<Order[]> {
    return this.cancelAll("socket", symbol);
  }

  private async cancelAll(line: OrderLine, symbol: string | undefined): Promise<Order[]> {
    await this.loadMarkets();
    const id = symbol === undefined ? undefined : this.market(symbol).id;
    const answer = await this.askLine(line, (orders) => orders.cancelAll(given({ symbol: id })));
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
