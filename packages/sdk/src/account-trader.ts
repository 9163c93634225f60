/**
 * What a session does with its account: places and cancels orders, registers deposits. Each says
 * what happens if the answer is lost.
 */

import {
  CanceledOrder,
  CanceledOrders,
  CancelTimer,
  type Chain,
  Deposit,
  PreconfirmAck,
  type Token,
} from "@perpgate/protocol";
import type { Static, TSchema } from "typebox";
import { AccountReader } from "./account-reader.js";
import { PerpgateError } from "./errors.js";
import type { HttpClient } from "./http/http-client.js";
import type { CallOptions } from "./http/retry.js";
import type { NewOrder } from "./orders/order-body.js";
import type { OrderCarrier, OrderDesk, PlacedOrder } from "./orders/order-desk.js";

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
  /** The account, as an EIP-55 address. */
  readonly address: string;
  /** What authorises reads and cancels; keep it like a password. */
  readonly token: string;
  /** @internal */
  protected readonly http: HttpClient;
  /** @internal */
  protected abstract readonly desk: OrderDesk;

  protected constructor(http: HttpClient, address: string, token: string) {
    super({ http, address, token });
    this.http = http;
    this.address = address;
    this.token = token;
  }

  /**
   * Places an order; the answer is its preconfirmation, durable and in a block soon. If no answer
   * comes, the very same bytes are sent again, and the venue executes them at most once:
   * `replayed` tells that the answer is that of an earlier try.
   *
   * @example
   * const ack = await session.placeOrder({
   *   symbol: "BTCUSD", side: "long", type: "limit", margin: 100, leverage: 5, price: 60_000, postOnly: true,
   * });
   * console.log(ack.orderId, ack.status, ack.filledSize, ack.replayed);
   */
  placeOrder(order: NewOrder, options: CallOptions = {}): Promise<PlacedOrder> {
    return this.desk.place(order, options, this.carryOrder);
  }

  /**
   * Cancels an order. If the answer was lost and the order turns out to be canceled, that counts as
   * done; `order_not_cancelable` means that it was filled or canceled before.
   *
   * @example
   * const { orderId, remainingSize } = await session.cancelOrder("48213");
   * console.log(orderId, remainingSize);
   */
  async cancelOrder(orderId: string, options: CallOptions = {}): Promise<CanceledOrder> {
    const path = `/v1/orders/${encodeURIComponent(orderId)}/cancel`;
    try {
      return await this.post(path, undefined, CanceledOrder, "cancels", options);
    } catch (error) {
      return this.settleCancel(orderId, error);
    }
  }

  /**
   * Cancels all orders, or all of one market. If an answer was lost on the way, the list holds what
   * the last try found open, which may be less than was canceled in all.
   *
   * @example
   * const { canceled } = await session.cancelAll({ symbol: "BTCUSD" });
   * console.log(`${canceled.length} orders canceled`);
   */
  cancelAll({ symbol, ...options }: CancelAllOptions = {}): Promise<CanceledOrders> {
    const body = JSON.stringify(symbol === undefined ? {} : { symbol });
    return this.post("/v1/orders/cancel-all", body, CanceledOrders, "cancels", options);
  }

  /**
   * The dead-man's switch: cancels everything unless called again in time; 0 switches it off.
   *
   * @example
   * const { cancelAt } = await session.cancelAfter(30_000);
   * console.log(cancelAt === null ? "off" : new Date(cancelAt));
   */
  cancelAfter(afterMs: number, options: CallOptions = {}): Promise<CancelTimer> {
    const body = JSON.stringify({ afterMs });
    return this.post("/v1/orders/cancel-after", body, CancelTimer, "cancels", options);
  }

  /**
   * Registers a deposit by its transaction. Registering again answers the same deposit.
   *
   * @example
   * const { depositId, status } = await session.deposit({
   *   chain: "arbitrum", txHash: `0x${"ab".repeat(32)}`, token: "USDC",
   * });
   * console.log(depositId, status);
   */
  deposit({ chain, txHash, token }: DepositRequest, options: CallOptions = {}): Promise<Deposit> {
    const body = JSON.stringify({ chain, txHash, token });
    return this.post("/v1/bridge/deposit", body, Deposit, "deposits", options);
  }

  private readonly carryOrder: OrderCarrier = async ({ body, signature }, attempt, signal) => {
    const { value, headers } = await this.http.sendOnce(
      {
        method: "POST",
        path: "/v1/orders",
        token: this.token,
        body,
        signature,
        answer: PreconfirmAck,
        lane: this.lane("orders"),
        ...(signal === undefined ? {} : { options: { signal } }),
      },
      attempt,
    );
    return { ...value, replayed: headers.get("idempotent-replay") === "true" };
  };

  /** After an earlier try, an order that is canceled is what was asked for. */
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

  protected post<T extends TSchema>(
    path: string,
    body: string | undefined,
    answer: T,
    limit: string,
    options: CallOptions,
    signature?: string,
  ): Promise<Static<T>> {
    return this.http.ask({
      method: "POST",
      path,
      token: this.token,
      answer,
      lane: this.lane(limit),
      options,
      ...(body === undefined ? {} : { body }),
      ...(signature === undefined ? {} : { signature }),
    });
  }
}
