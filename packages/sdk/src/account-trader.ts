/**
 * What a session does with its account: places and cancels orders, registers deposits. Each method
 * documents what happens if the response is lost.
 */

import type {
  CanceledOrder,
  CanceledOrders,
  CancelTimer,
  Chain,
  Deposit,
  Token,
} from "@perpgate/protocol";
import {
  cancelAllOrders,
  cancelOrder,
  cancelOrdersAfter,
  placeOrder,
  registerDeposit,
} from "@perpgate/protocol/operations";
import { AccountReader } from "./account-reader.js";
import { PerpgateError } from "./errors.js";
import type { NewOrder } from "./orders/order-body.js";
import type { OrderClient, OrderTransport, PlacedOrder } from "./orders/order-client.js";
import type { CallOptions } from "./retry.js";

export interface DepositRequest {
  readonly chain: Chain;
  readonly txHash: string;
  readonly token: Token;
}

export interface CancelAllOptions extends CallOptions {
  /** Only the orders of this market. */
  readonly symbol?: string;
}

export abstract class AccountTrader extends AccountReader {
  /** @internal */
  protected abstract readonly orderClient: OrderClient;

  /**
   * Places an order and returns its preconfirmation: durable, and in a block within 200 ms. If no
   * response comes, the same bytes are sent again, and the venue executes them at most once;
   * `replayed` is true if an earlier try was executed.
   *
   * @example
   * const ack = await session.placeOrder({
   *   symbol: "BTCUSD", side: "long", type: "limit", margin: 100, leverage: 5, price: 60_000, postOnly: true,
   * });
   * console.log(ack.orderId, ack.status, ack.filledSize, ack.replayed);
   */
  placeOrder(order: NewOrder, options: CallOptions = {}): Promise<PlacedOrder> {
    return this.orderClient.place(order, options, this.sendOrder);
  }

  /**
   * Cancels an order. An order that an earlier try of this call canceled counts as success;
   * `order_not_cancelable` means that it was filled or canceled before the call.
   *
   * @example
   * const { orderId, remainingSize } = await session.cancelOrder("48213");
   * console.log(orderId, remainingSize);
   */
  async cancelOrder(orderId: string, options: CallOptions = {}): Promise<CanceledOrder> {
    try {
      return await this.call(cancelOrder, { params: { id: orderId }, options });
    } catch (error) {
      return this.settleCancel(orderId, error);
    }
  }

  /**
   * Cancels all orders, or all of one market. If a response was lost, the list has only the orders
   * that the last try found open.
   *
   * @example
   * const { canceled } = await session.cancelAll({ symbol: "BTCUSD" });
   * console.log(`${canceled.length} orders canceled`);
   */
  cancelAll({ symbol, ...options }: CancelAllOptions = {}): Promise<CanceledOrders> {
    const body = symbol === undefined ? {} : { symbol };
    return this.call(cancelAllOrders, { body, options });
  }

  /**
   * The dead-man's switch: cancels all orders unless called again in time; 0 disarms it.
   *
   * @example
   * const { cancelAt } = await session.cancelAfter(30_000);
   * console.log(cancelAt === null ? "off" : new Date(cancelAt));
   */
  cancelAfter(afterMs: number, options: CallOptions = {}): Promise<CancelTimer> {
    return this.call(cancelOrdersAfter, { body: { afterMs }, options });
  }

  /**
   * Registers a deposit by its transaction. Registering it again returns the same deposit.
   *
   * @example
   * const { depositId, status } = await session.deposit({
   *   chain: "arbitrum", txHash: `0x${"ab".repeat(32)}`, token: "USDC",
   * });
   * console.log(depositId, status);
   */
  deposit({ chain, txHash, token }: DepositRequest, options: CallOptions = {}): Promise<Deposit> {
    return this.call(registerDeposit, { body: { chain, txHash, token }, options });
  }

  private readonly sendOrder: OrderTransport = async (signed, attempt, signal) => {
    const { address, token } = this;
    const options = signal === undefined ? {} : { signal };
    const input = { signed, session: { address, token }, options };
    const { value, headers } = await this.http.sendOnce(placeOrder, input, attempt);
    return { ...value, replayed: headers.get("idempotent-replay") === "true" };
  };

  /** If this is not the first try, a canceled order is the requested result. */
  protected async settleCancel(orderId: string, error: unknown): Promise<CanceledOrder> {
    const isRepeat =
      error instanceof PerpgateError &&
      error.code === "order_not_cancelable" &&
      error.attempts > 1 &&
      error.details?.status === "canceled";
    if (!isRepeat) throw error;
    const { remainingSize } = await this.order(orderId);
    return { orderId, status: "canceled", remainingSize };
  }
}
