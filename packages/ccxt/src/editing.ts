/** Changes of open orders. */

import type { NewOperation, Order as VenueOrder } from "@perpgate/sdk";
import { type Dict, type Exchange, errors, type Order, type OrderRequest } from "ccxt";
import { Creating } from "./creating.js";
import { clientIdIn } from "./order-data.js";
import type { OrderLine } from "./order-lines.js";
import { commonValidUntil, refuseOtherTriggers, triggerPriceOf } from "./order-request.js";
import { given, venueSide } from "./values.js";

/** What an edit reads: the order's own name, triggers, and the fields of an amendment. */
const EDIT_PARAMETERS = [
  "clientOrderId",
  "clientOid",
  "triggerPrice",
  "stopPrice",
  "triggerPriceType",
  "stopLossPrice",
  "takeProfitPrice",
  "expiresAt",
  "validUntil",
];

/** CCXT's type of a request has no id. */
type EditRequest = Partial<OrderRequest> & { readonly id?: string; readonly symbol: string };
type EditArguments = Parameters<Exchange["editOrder"]>;
type Amend = Extract<NewOperation, { op: "amend" }>;

const NOT_OPEN = { code: "order_not_found", message: "no open order has this name" };

export class Editing extends Creating {
  override editOrder(
    ...[id, symbol, type, side, amount, price, params = {}]: EditArguments
  ): Promise<Order> {
    return this.edit("rest", { id, symbol, type, side, amount, price, params });
  }

  override editOrderWs(
    ...[id, symbol, type, side, amount, price, params = {}]: EditArguments
  ): Promise<Order> {
    return this.edit("socket", { id, symbol, type, side, amount, price, params });
  }

  private async edit(line: OrderLine, request: EditRequest): Promise<Order> {
    await this.loadMarkets();
    const { id = "", params = {} } = request;
    this.checkEditParameters(params);
    const found = await this.venueOrder(id, params);
    const { op: _, ...amendment } = this.amendOf(request, found);
    const order = await this.askLine(line, async (orders, session) => {
      await orders.amendOrder({ ...amendment, ...given({ validUntil: params.validUntil }) });
      return session.order(found.orderId);
    });
    return this.parseOrder(order);
  }

  /** In one batch; what is refused is in its place with the status `rejected`, and its order stays. */
  override async editOrders(requests: EditRequest[], shared: Dict = {}): Promise<Order[]> {
    await this.loadMarkets();
    this.checkCount("editOrders", requests);
    if (requests.length === 0) return [];
    const edits = requests.map((request) => ({
      ...request,
      params: { ...shared, ...request.params },
    }));
    for (const { params } of edits) this.checkEditParameters(params);
    const validUntil = commonValidUntil(edits.map(({ params }) => params));
    const open = await this.openOrders();
    // Without its order an edit cannot be written: the price of one that waits is its trigger.
    const named = edits.map((edit) => ({ edit, found: this.openOrderOf(edit, open) }));
    const amends = named.flatMap(({ edit, found }) =>
      found === undefined ? [] : [this.amendOf(edit, found)],
    );
    const results = amends.length === 0 ? [] : await this.batch("rest", amends, validUntil);
    const after = await this.openOrders();
    return Promise.all(
      named.map(({ edit, found }) => {
        if (found === undefined) return this.notEdited(edit, NOT_OPEN);
        const { error } = results.shift() ?? {};
        if (error !== undefined) return this.notEdited({ ...edit, id: found.orderId }, error);
        return this.orderAmong(after, found.orderId);
      }),
    );
  }

  private openOrders(): Promise<VenueOrder[]> {
    return this.askSession((session) => session.openOrders());
  }

  private notEdited({ id, params = {} }: EditRequest, info: object): Order {
    return this.safeOrder({ id, clientOrderId: clientIdIn(params), status: "rejected", info });
  }

  /** Most edited orders are open still; one that was filled is read alone. */
  private async orderAmong(open: readonly VenueOrder[], id: string): Promise<Order> {
    const found = open.find(({ orderId }) => orderId === id);
    return this.parseOrder(found ?? (await this.venueOrder(id, {})));
  }

  private openOrderOf(
    { id, params = {} }: EditRequest,
    open: readonly VenueOrder[],
  ): VenueOrder | undefined {
    const name = clientIdIn(params);
    if (name === undefined) return open.find(({ orderId }) => orderId === id);
    return open.find(({ clientOrderId }) => clientOrderId === name);
  }

  private amendOf(request: EditRequest, found: VenueOrder): Amend {
    const { symbol, type, side, amount, price, params = {} } = request;
    const size = this.amountOnLot(symbol, amount);
    const limit = this.priceOnTick(symbol, price);
    const trigger = triggerPriceOf(this.triggersOnTick(symbol, params));
    const { orderId } = found;
    const isStop = found.type === "stop";
    this.checkUnchanged(found, symbol, type, side);
    if (trigger !== undefined && !isStop) {
      throw new errors.BadRequest(`${this.id} order ${orderId} waits for no trigger price`);
    }
    // The price of a waiting order is its trigger; its limit is another field.
    const prices = isStop ? { price: trigger, limitPrice: limit } : { price: limit };
    return { op: "amend", orderId, ...given({ ...prices, size, expiresAt: params.expiresAt }) };
  }

  /** @throws BadRequest for parameters that an amendment cannot change. */
  private checkEditParameters(params: Dict): void {
    for (const [name, value] of Object.entries(params)) {
      if (value === undefined || EDIT_PARAMETERS.includes(name)) continue;
      throw new errors.BadRequest(
        `${this.id} editOrder() takes ${EDIT_PARAMETERS.join(", ")}; not ${name}`,
      );
    }
    refuseOtherTriggers(params);
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
}
