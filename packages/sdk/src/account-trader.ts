/**
 * What a session does with its account: places and cancels orders, registers deposits. Each method
 * documents what happens if the response is lost.
 */

import type {
  BatchAnswer,
  CanceledOrder,
  CanceledOrders,
  CancelTimer,
  Chain,
  Deposit,
  MarginChange,
  Order,
  Token,
  Withdrawal,
  WithdrawalBody,
} from "@perpgate/protocol";
import {
  amendOrder,
  cancelAllOrders,
  cancelNamedOrder,
  cancelOrder,
  cancelOrdersAfter,
  changeMargin,
  type Operation,
  type ParamsOf,
  placeBatch,
  placeOrder,
  type ResultOf,
  registerDeposit,
  requestWithdrawal,
} from "@perpgate/protocol/operations";
import { PerpgateError } from "./errors.js";
import {
  amendText,
  batchText,
  cancelFields,
  type NewOperation,
  type NewOrder,
  type OrderAmendment,
  type OrderName,
} from "./orders/order-body.js";
import type { OrderClient, PlacedOrder, Replayable, Transport } from "./orders/order-client.js";
import { type Protection, protectionOf } from "./orders/protection.js";
import { AccountReader } from "./reads.js";
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

export interface BatchOptions extends CallOptions {
  /** Unix milliseconds; refused with `too_late` if the venue gets to it later. */
  readonly validUntil?: number;
  /** Only to repeat a batch whose outcome is unknown. */
  readonly nonce?: number;
}

export interface MarginOptions extends CallOptions {
  /** Only to repeat a change whose outcome is unknown. */
  readonly nonce?: number;
}

export interface CancelOptions extends CallOptions {
  /** Unix milliseconds; refused with `too_late` if the venue gets to it later. */
  readonly validUntil?: number;
}

export abstract class AccountTrader extends AccountReader {
  /** @internal */
  protected abstract readonly orderClient: OrderClient;

  /**
   * Places an order and returns its preconfirmation: durable, and in a block within 200 ms. If no
   * response comes, the same bytes are sent again, and the venue executes them at most once;
   * `replayed` is true if an earlier try was executed. `takeProfit` and `stopLoss` attach orders that close
   * what this one has opened; `exits` of the answer has their ids.
   *
   * @example
   * const ack = await session.placeOrder({
   *   symbol: "BTCUSD", side: "long", type: "limit", margin: 100, leverage: 5, price: 60_000, postOnly: true,
   * });
   * console.log(ack.orderId, ack.status, ack.filledSize, ack.replayed);
   */
  placeOrder(order: NewOrder, options: CallOptions = {}): Promise<PlacedOrder> {
    return this.orderClient.place(order, options, this.sending(placeOrder));
  }

  /**
   * Changes the price, size, limit or expiry of an open order, which keeps its id, and its place in the
   * queue if the price stays and the size does not grow. The same bytes are sent again like an order's.
   *
   * @example
   * const { orderId } = await session.placeOrder({
   *   symbol: "BTCUSD", side: "long", type: "limit", size: 0.01, leverage: 5, price: 60_000,
   * });
   * const amended = await session.amendOrder({ orderId, price: 60_100 });
   * console.log(amended.status, amended.remainingSize);
   */
  amendOrder(amendment: OrderAmendment, options: CallOptions = {}): Promise<PlacedOrder> {
    const { orderId, clientOrderId, nonce: given } = amendment;
    const id = orderId ?? clientOrderId;
    if (id === undefined) throw new TypeError("name the order by orderId or clientOrderId");
    const send = this.sending(amendOrder, { id });
    return this.orderClient.submit(given, (nonce) => amendText(amendment, nonce), options, send);
  }

  /**
   * Places, amends and cancels up to 50 orders with one signature and one round trip, in order, with
   * nothing of anyone else in between; each is accepted or refused on its own.
   *
   * @example
   * const { results } = await session.batch([
   *   { op: "place", symbol: "BTCUSD", side: "long", type: "limit", size: 0.01, leverage: 5, price: 60_000, clientOrderId: "bid-1" },
   *   { op: "amend", clientOrderId: "bid-1", price: 60_100 },
   *   { op: "cancel", clientOrderId: "bid-1" },
   * ]);
   * for (const { status, ack, error } of results) console.log(status, ack?.orderId, error?.code);
   */
  batch(
    operations: readonly NewOperation[],
    { validUntil, nonce: given, ...options }: BatchOptions = {},
  ): Promise<Replayable<BatchAnswer>> {
    const textOf = (nonce: number) => batchText(operations, validUntil, nonce);
    return this.orderClient.submit(given, textOf, options, this.sending(placeBatch));
  }

  /**
   * Moves dollars from the wallet to the margin of a position; a negative amount moves them back.
   *
   * @example
   * const { margin, available } = await session.changeMargin("BTCUSD", 50);
   * console.log(margin, available);
   */
  changeMargin(
    symbol: string,
    amount: number,
    { nonce: given, ...options }: MarginOptions = {},
  ): Promise<Replayable<MarginChange>> {
    const textOf = (nonce: number) => JSON.stringify({ symbol, amount, nonce });
    const send = this.sending(changeMargin, { symbol });
    return this.orderClient.submit(given, textOf, options, send);
  }

  /**
   * Has dollars paid to the account's own address on a chain; amount and `fee` leave the wallet immediately. The
   * withdrawal is `queued`, and `paid` minutes later; `withdrawalById` follows it.
   *
   * @example
   * const { withdrawalId, fee, deadline } = await session.withdraw({ chain: "ethereum", token: "USDC", amount: 100 });
   * console.log(withdrawalId, fee, new Date(deadline));
   */
  withdraw(
    { chain, token, amount }: Omit<WithdrawalBody, "nonce">,
    { nonce: given, ...options }: MarginOptions = {},
  ): Promise<Replayable<Withdrawal>> {
    const textOf = (nonce: number) => JSON.stringify({ chain, token, amount, nonce });
    return this.orderClient.submit(given, textOf, options, this.sending(requestWithdrawal));
  }

  /**
   * Protects the position of a market, or the one that open orders lead to: at `takeProfit` or at
   * `stopLoss` the whole position is closed, whatever its size is then. Prices that were set before on
   * this side are amended, so a price that is refused leaves the old one in force; null removes one. After
   * an unknown outcome call it again: it reads what is set and changes the rest.
   *
   * @example
   * const { results } = await session.protect({ symbol: "BTCUSD", side: "long", takeProfit: 70_000, stopLoss: 62_000 });
   * console.log(results.map(({ status }) => status));
   */
  async protect(
    protection: Protection,
    { validUntil, ...options }: Omit<BatchOptions, "nonce"> = {},
  ): Promise<Replayable<BatchAnswer>> {
    const operations = protectionOf(protection, await this.openOrders(options));
    if (operations.length === 0) return { results: [], replayed: false };
    return this.batch(operations, validUntil === undefined ? options : { ...options, validUntil });
  }

  /**
   * Cancels an order. An order that an earlier try of this call canceled counts as success;
   * `order_not_cancelable` means that it was filled or canceled before the call.
   *
   * @example
   * const { orderId, remainingSize } = await session.cancelOrder("48213");
   * console.log(orderId, remainingSize);
   */
  async cancelOrder(
    order: OrderName,
    { validUntil, ...options }: CancelOptions = {},
  ): Promise<CanceledOrder> {
    try {
      if (typeof order === "string" && validUntil === undefined) {
        const params = { id: order };
        return this.orderClient.canceled(await this.call(cancelOrder, { params, options }));
      }
      const body = cancelFields(order, validUntil);
      return this.orderClient.canceled(await this.call(cancelNamedOrder, { body, options }));
    } catch (error) {
      return this.settleCancel(order, error);
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

  /** @internal Sends a signed body to an operation. */
  protected sending<O extends Operation>(
    operation: O,
    params?: ParamsOf<O>,
  ): Transport<Replayable<ResultOf<O>>> {
    return async (signed, attempt, signal) => {
      const { address } = this;
      const { token = this.token } = signed;
      const options = signal === undefined ? {} : { signal };
      const named = params === undefined ? {} : { params };
      const input = { ...named, signed, session: { address, token }, options };
      const { value, headers } = await this.http.sendOnce(operation, input, attempt);
      return Object.assign(value, { replayed: headers.get("idempotent-replay") === "true" });
    };
  }

  /** If an earlier try may have been executed, a canceled order is the requested result. */
  protected async settleCancel(order: OrderName, error: unknown): Promise<CanceledOrder> {
    if (!(error instanceof PerpgateError && error.isDoubtful)) throw error;
    const found = await this.canceledBefore(order, error);
    if (found?.status !== "canceled") throw error;
    const { orderId, remainingSize } = found;
    return { orderId, status: "canceled", remainingSize };
  }

  private async canceledBefore(
    order: OrderName,
    { code, details }: PerpgateError,
  ): Promise<Order | undefined> {
    if (typeof order === "string") {
      const isCanceled = code === "order_not_cancelable" && details?.status === "canceled";
      return isCanceled ? this.order(order) : undefined;
    }
    // A name that an earlier try's cancel has freed is not found any more.
    if (code !== "order_not_found") return undefined;
    const { clientOrderId } = order;
    return (await this.orders({ status: "all", clientOrderId, limit: 1 }))[0];
  }
}
