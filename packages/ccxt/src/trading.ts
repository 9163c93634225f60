/** Orders: create, edit, cancel. */

import type {
  BatchResult,
  NewOperation,
  NewOrder,
  Protection,
  Trigger,
  Order as VenueOrder,
} from "@perpgate/sdk";
import { protectionOf } from "@perpgate/sdk";
import { type Dict, errors, type Num, type Order, type OrderRequest } from "ccxt";
import { exceptionOf } from "./exceptions.js";
import { clientIdIn, statusOf } from "./order-data.js";
import {
  type Attached,
  attachedOf,
  newOrderOf,
  placementsOf,
  triggerOf,
  triggerPriceOf,
  triggerWhen,
} from "./order-request.js";
import { Rounding } from "./rounding.js";
import { ccxtSide, exact, given, known, priceOrNone, venueSide } from "./values.js";

/** Operations of one batch. */
const BATCH = 50;

/** What `editOrder` reads: the order's own name, triggers, and the fields of an amendment. */
const EDIT_PARAMETERS = [
  "clientOrderId",
  "clientOid",
  "triggerPrice",
  "stopPrice",
  "stopLossPrice",
  "takeProfitPrice",
  "expiresAt",
  "validUntil",
];

type NamedOperation = NewOperation & { readonly orderId: string };

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
    const { operations, validUntil } = placementsOf([order]);
    const open = await this.askSession((session) => session.openOrders());
    const exits = protectionOf(protection, open);
    const [first, ...changes] = await this.batch([...operations, ...exits], validUntil);
    if (first?.ack === undefined) {
      const refusal = this.refusalOf(first);
      // The order may be there, and then its exits have to be.
      if (refusal instanceof errors.NetworkError) throw refusal;
      throw await this.afterUndo(refusal, undoOf(exits, changes, open));
    }
    const placed = this.parseAck(first.ack, order);
    if (first.ack.status === "canceled" && first.ack.filledSize === 0) {
      const undo = undoOf(exits, changes, open);
      const left = await this.undone(undo);
      if (left === undefined) return placed;
      throw new errors.InvalidOrder(`${this.id} order ${placed.id} was not filled${left}`);
    }
    const refused = changes.find(({ error }) => error !== undefined);
    if (refused !== undefined) {
      const { message } = this.refusalOf(refused);
      throw new errors.InvalidOrder(
        `${this.id} order ${placed.id} is ${placed.status}, but its stop-loss or take-profit was refused: ${message}`,
      );
    }
    return placed;
  }

  /** The error names exits that stay changed. */
  private async afterUndo(refusal: Error, undo: readonly NamedOperation[]): Promise<Error> {
    refusal.message += (await this.undone(undo)) ?? "";
    return refusal;
  }

  /**
   * Operations of a batch are judged one by one, so exits were changed although the order was not taken.
   * Puts them back; returns a text about those that stay changed.
   */
  private async undone(undo: readonly NamedOperation[]): Promise<string | undefined> {
    if (undo.length === 0) return undefined;
    const problems = await this.batch(undo).then(
      (results) => results.map(({ error }) => error?.message),
      ({ message }: Error) => undo.map(() => message),
    );
    const left = undo.flatMap(({ orderId }, at) =>
      problems[at] === undefined ? [] : [`${orderId} (${problems[at]})`],
    );
    if (left.length === 0) return undefined;
    return `; these exits were changed and may stay so: ${left.join(", ")}`;
  }

  /** At most 50: with more batches than one, some could be executed before another one fails. */
  override async createOrders(requests: OrderRequest[], shared: Dict = {}): Promise<Order[]> {
    if (requests.length > BATCH) {
      throw new errors.BadRequest(`${this.id} createOrders() takes at most ${BATCH} orders`);
    }
    const orders: NewOrder[] = [];
    for (const { symbol, type, side, amount, price, params: own } of requests) {
      const params = { ...shared, ...own };
      const { order, attached } = await this.prepared(symbol, type, side, amount, price, params);
      if (attached.stopLoss !== undefined || attached.takeProfit !== undefined) {
        throw new errors.NotSupported(`${this.id} createOrders() takes no stopLoss or takeProfit`);
      }
      orders.push(order);
    }
    if (orders.length === 0) return [];
    const { operations, validUntil } = placementsOf(orders);
    const results = await this.batch(operations, validUntil);
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

  private async batch(
    operations: readonly NewOperation[],
    validUntil?: number,
  ): Promise<BatchResult[]> {
    const options = given({ validUntil });
    return (await this.askSession((session) => session.batch(operations, options))).results;
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
    type: string,
    side: string,
    amount?: Num,
    price?: Num,
    params: Dict = {},
  ): Promise<Order> {
    await this.loadMarkets();
    this.checkEditParameters(params);
    const size = this.amountOnLot(symbol, amount);
    const limit = this.priceOnTick(symbol, price);
    const trigger = triggerPriceOf(this.triggersOnTick(symbol, params));
    const found = await this.venueOrder(id, params);
    const { orderId } = found;
    const isStop = found.type === "stop";
    this.checkUnchanged(found, symbol, type, side);
    if (trigger !== undefined && !isStop) {
      throw new errors.BadRequest(`${this.id} order ${orderId} waits for no trigger price`);
    }
    // The price of a waiting order is its trigger; its limit is another field.
    const prices = isStop ? { price: trigger, limitPrice: limit } : { price: limit };
    const { expiresAt, validUntil } = params;
    const changes = given({ ...prices, size, expiresAt, validUntil });
    const order = await this.askSession(async (session) => {
      await session.amendOrder({ orderId, ...changes });
      return session.order(orderId);
    });
    return this.parseOrder(order);
  }

  /** @throws BadRequest for parameters that an amendment cannot change. */
  private checkEditParameters(params: Dict): void {
    for (const [name, value] of Object.entries(params)) {
      if (value === undefined || EDIT_PARAMETERS.includes(name)) continue;
      throw new errors.BadRequest(
        `${this.id} editOrder() takes ${EDIT_PARAMETERS.join(", ")}; not ${name}`,
      );
    }
  }

  /** @throws BadRequest for another symbol, type or side than the order's, unless it has ended. */
  private checkUnchanged(
    found: VenueOrder,
    symbol: string,
    type: string | undefined,
    side: string | undefined,
  ): void {
    const order = this.parseOrder(found);
    if (order.status !== "open") return;
    const isSame =
      this.market(symbol).symbol === order.symbol &&
      (type === undefined || type === order.type) &&
      (side === undefined || venueSide(side) === found.side);
    if (isSame) return;
    throw new errors.BadRequest(
      `${this.id} order ${order.id} is ${order.type} ${order.side} in ${order.symbol}; an edit cannot change that`,
    );
  }

  override async cancelOrder(id: string, symbol?: string, params: Dict = {}): Promise<Order> {
    await this.loadMarkets();
    const clientOrderId = clientIdIn(params);
    const name = clientOrderId === undefined ? this.orderIdOf(id) : { clientOrderId };
    const options = given({ validUntil: params.validUntil });
    const canceled = await this.askSession((session) => session.cancelOrder(name, options));
    return this.canceledOrder(canceled.orderId, symbol, canceled.remainingSize, canceled);
  }

  /** In batches; where one fails, the orders of those before it are canceled. */
  override async cancelOrders(
    ids: string[],
    symbol?: string,
    { validUntil }: Dict = {},
  ): Promise<Order[]> {
    await this.loadMarkets();
    const cancels = ids.map((id) => ({ op: "cancel", orderId: this.orderIdOf(id) }) as const);
    const results: BatchResult[] = [];
    for (let at = 0; at < cancels.length; at += BATCH) {
      results.push(...(await this.batch(cancels.slice(at, at + BATCH), validUntil)));
    }
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

/** What puts exits back that a batch changed: the new ones are canceled, the others get their price again. */
function undoOf(
  exits: readonly NewOperation[],
  results: readonly BatchResult[],
  open: readonly VenueOrder[],
): NamedOperation[] {
  return exits.flatMap(({ op }, at): NamedOperation[] => {
    const orderId = results[at]?.ack?.orderId;
    if (orderId === undefined) return [];
    if (op === "place") return [{ op: "cancel", orderId }];
    const price = known(open.find((order) => order.orderId === orderId)?.price);
    return price === undefined ? [] : [{ op: "amend", orderId, price }];
  });
}
