/** New orders. */

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
import { type Line, OrderLines } from "./order-lines.js";
import {
  type Attached,
  attachedOf,
  newOrderOf,
  placementsOf,
  triggerOf,
  triggerPriceOf,
  triggerWhen,
} from "./order-request.js";
import { given, known } from "./values.js";

type NamedOperation = NewOperation & { readonly orderId: string };

interface Prepared {
  readonly order: NewOrder;
  readonly attached: Attached;
}

export class Creating extends OrderLines {
  override async createOrder(
    symbol: string,
    type: string,
    side: string,
    amount: number,
    price?: Num,
    params: Dict = {},
  ): Promise<Order> {
    return this.create("rest", await this.prepared(symbol, type, side, amount, price, params));
  }

  override async createOrderWs(
    symbol: string,
    type: string,
    side: string,
    amount: number,
    price?: Num,
    params: Dict = {},
  ): Promise<Order> {
    return this.create("socket", await this.prepared(symbol, type, side, amount, price, params));
  }

  private async create(line: Line, { order, attached }: Prepared): Promise<Order> {
    const { stopLoss, takeProfit } = attached;
    if (stopLoss !== undefined || takeProfit !== undefined) {
      return this.createProtected(line, order, attached);
    }
    const ack = await this.askLine(line, (orders) => orders.placeOrder(order));
    return this.parseAck(ack, order);
  }

  /** The order, and in the same batch what closes its position at either price. */
  private async createProtected(line: Line, order: NewOrder, attached: Attached): Promise<Order> {
    const protection: Protection = { symbol: order.symbol, side: order.side, ...given(attached) };
    const { operations, validUntil } = placementsOf([order]);
    const open = await this.askSession((session) => session.openOrders());
    const exits = protectionOf(protection, open);
    const [first, ...changes] = await this.batch(line, [...operations, ...exits], validUntil);
    if (first?.ack === undefined) {
      const refusal = this.refusalOf(first);
      // The order may be there, and then its exits have to be.
      if (refusal instanceof errors.NetworkError) throw refusal;
      throw await this.afterUndo(line, refusal, undoOf(exits, changes, open));
    }
    const placed = this.parseAck(first.ack, order);
    if (first.ack.status === "canceled" && first.ack.filledSize === 0) {
      const undo = undoOf(exits, changes, open);
      const left = await this.undone(line, undo);
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
  private async afterUndo(
    line: Line,
    refusal: Error,
    undo: readonly NamedOperation[],
  ): Promise<Error> {
    refusal.message += (await this.undone(line, undo)) ?? "";
    return refusal;
  }

  /**
   * Operations of a batch are judged one by one, so exits were changed although the order was not taken.
   * Puts them back; returns a text about those that stay changed.
   */
  private async undone(line: Line, undo: readonly NamedOperation[]): Promise<string | undefined> {
    if (undo.length === 0) return undefined;
    const problems = await this.batch(line, undo).then(
      (results) => results.map(({ error }) => error?.message),
      ({ message }: Error) => undo.map(() => message),
    );
    const left = undo.flatMap(({ orderId }, at) =>
      problems[at] === undefined ? [] : [`${orderId} (${problems[at]})`],
    );
    if (left.length === 0) return undefined;
    return `; these exits were changed and may stay so: ${left.join(", ")}`;
  }

  override createOrders(requests: OrderRequest[], shared: Dict = {}): Promise<Order[]> {
    return this.createMany("rest", requests, shared);
  }

  override createOrdersWs(requests: OrderRequest[], shared: Dict = {}): Promise<Order[]> {
    return this.createMany("socket", requests, shared);
  }

  private async createMany(line: Line, requests: OrderRequest[], shared: Dict): Promise<Order[]> {
    this.checkCount("createOrders", requests);
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
    const results = await this.batch(line, operations, validUntil);
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
