/**
 * What calls about orders share: they are sent over REST or over the socket, and acknowledgements and
 * refusals become CCXT's orders and exceptions.
 */

import type { BatchResult, NewOperation, NewOrder, Session, SessionStream } from "@perpgate/sdk";
import { type Dict, errors, type Num, type Order } from "ccxt";
import { ccxtStatusOf, OrderData } from "./order-data.js";
import { ccxtSide, exact, given, isoOf, known, priceOrNone } from "./values.js";

/** Amounts and prices of orders on the market's lot and tick, also those inside `params`. */
const TRIGGERS = ["triggerPrice", "stopPrice", "stopLossPrice", "takeProfitPrice"];
const ATTACHED = ["stopLoss", "takeProfit"];

class Rounding extends OrderData {
  /** @throws InvalidOrder for what is no positive number, or less than a lot. */
  protected amountOnLot(symbol: string, amount: Num): number | undefined {
    if (amount === undefined) return undefined;
    this.checkPositive("amount", amount);
    return Number(this.amountToPrecision(symbol, amount));
  }

  protected priceOnTick(symbol: string, price: Num): number | undefined {
    if (price === undefined) return undefined;
    this.checkPositive("price", price);
    return Number(this.priceToPrecision(symbol, price));
  }

  /** The parameters with every trigger price on the tick. */
  protected triggersOnTick(symbol: string, params: Dict): Dict {
    const rounded = { ...params };
    for (const name of TRIGGERS) {
      if (params[name] !== undefined) rounded[name] = this.priceOnTick(symbol, params[name]);
    }
    for (const name of ATTACHED) {
      if (typeof params[name] !== "object" || params[name] === null) continue;
      const { price } = params[name];
      const limit = price === undefined ? {} : { price: this.priceOnTick(symbol, price) };
      rounded[name] = { ...this.triggersOnTick(symbol, params[name]), ...limit };
    }
    return rounded;
  }

  private checkPositive(name: string, value: number): void {
    if (Number(value) > 0 && Number.isFinite(Number(value))) return;
    throw new errors.InvalidOrder(`${this.id} the ${name} is a positive number, not ${value}`);
  }
}

/** Operations of one batch. */
export const BATCH = 50;

/** How a call reaches the venue; those that end in `Ws` take the socket. */
export type OrderLine = "rest" | "socket";

/** What a session and its stream have in common. */
type OrderSender = Pick<
  SessionStream,
  "placeOrder" | "amendOrder" | "batch" | "cancelOrder" | "cancelAll"
>;

export class OrderLines extends Rounding {
  protected askLine<T>(
    line: OrderLine,
    run: (orders: OrderSender, session: Session) => Promise<T>,
  ): Promise<T> {
    return this.askSession((session) => run(line === "rest" ? session : session.stream, session));
  }

  protected async batch(
    line: OrderLine,
    operations: readonly NewOperation[],
    validUntil?: number,
  ): Promise<BatchResult[]> {
    const options = given({ validUntil });
    return (await this.askLine(line, (orders) => orders.batch(operations, options))).results;
  }

  /** @throws BadRequest for more than a batch: some could be executed before another one fails. */
  protected checkCount(call: string, requests: readonly unknown[]): void {
    if (requests.length <= BATCH) return;
    throw new errors.BadRequest(`${this.id} ${call}() takes at most ${BATCH} orders`);
  }

  /** An order of a batch; one that was refused has the status `rejected` and the error as `info`. */
  protected resultOf(result: BatchResult | undefined, order: NewOrder | undefined): Order {
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

  /** The acknowledgement with the fields of the order that it is about. */
  protected parseAck(ack: NonNullable<BatchResult["ack"]>, order: NewOrder): Order {
    const market = this.safeMarket(ack.symbol);
    const { type, price, limitPrice, trigger, reduceOnly = false, postOnly = false } = order;
    const { stopLoss, takeProfit } = order;
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
        timestamp: ack.time,
        datetime: isoOf(ack.time),
        lastTradeTimestamp: ack.filledSize === 0 ? undefined : ack.time,
        lastUpdateTimestamp: ack.time,
        symbol: market.symbol,
        type: isLimit ? "limit" : "market",
        timeInForce: postOnly ? "PO" : timeInForce,
        postOnly,
        reduceOnly,
        side: ccxtSide(ack.side),
        price: isLimit ? known(isStop ? limitPrice : price) : undefined,
        triggerPrice,
        stopLossPrice: reduceOnly && trigger === "stop" ? triggerPrice : stopLoss?.price,
        takeProfitPrice: reduceOnly && trigger === "takeProfit" ? triggerPrice : takeProfit?.price,
        filled: ack.filledSize,
        remaining: ack.remainingSize,
        average,
        cost: average === undefined ? 0 : exact(average * ack.filledSize),
        status: ccxtStatusOf(ack),
        fee: { cost: ack.feePaid, currency: market.quote },
      },
      market,
    );
  }
}
