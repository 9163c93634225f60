/** `session.stream`: the account's streams, and orders over the same socket. */

import type { BatchAnswer, CanceledOrder, CanceledOrders } from "@perpgate/protocol";
import {
  AccountFrame,
  DepositsFrame,
  FillsFrame,
  OrdersFrame,
  PositionsFrame,
  PreconfirmFrame,
} from "@perpgate/protocol/operations";
import type { Static, TSchema } from "typebox";
import type { BatchOptions, CancelAllOptions, CancelOptions } from "../account-trader.js";
import { hasShape } from "../http/answer-shape.js";
import type { NewOperation, NewOrder, OrderAmendment, OrderName } from "../orders/order-body.js";
import type { PlacedOrder, Replayable } from "../orders/order-client.js";
import { backoffMs, type CallOptions, pause, RECONNECT_BACKOFF } from "../retry.js";
import { PrivateStream, type PrivateWatchOptions } from "./private-channel.js";
import { allDeposits, latestAccount, openOrders, openPositions } from "./private-frames.js";
import type { StreamState } from "./socket-link.js";
import { SocketOrders, type SocketOrdersContext } from "./socket-orders.js";
import type { Subscription } from "./subscription.js";

const shapedAs =
  <S extends TSchema>(schema: S) =>
  (payload: unknown): payload is Static<S> =>
    hasShape(schema, payload);

export class SessionStream {
  private readonly preconfirms: PrivateStream<PreconfirmFrame>;
  private readonly orders: PrivateStream<OrdersFrame>;
  private readonly positions: PrivateStream<PositionsFrame>;
  private readonly fills: PrivateStream<FillsFrame>;
  private readonly account: PrivateStream<AccountFrame>;
  private readonly deposits: PrivateStream<DepositsFrame>;
  private readonly trading: SocketOrders;
  /** @internal */
  cancelsOnDisconnect = false;
  /** Whether the option must still be set in a renewed session. */
  private isOptionDue = false;
  private isSettingOption = false;

  /** @internal */
  constructor(private readonly context: SocketOrdersContext) {
    const { channels } = context.socket;
    this.preconfirms = new PrivateStream(channels, "preconfirms", shapedAs(PreconfirmFrame));
    this.orders = new PrivateStream(channels, "orders", shapedAs(OrdersFrame), openOrders);
    this.positions = new PrivateStream(
      channels,
      "positions",
      shapedAs(PositionsFrame),
      openPositions,
    );
    this.fills = new PrivateStream(channels, "fills", shapedAs(FillsFrame));
    this.account = new PrivateStream(channels, "account", shapedAs(AccountFrame), latestAccount);
    this.deposits = new PrivateStream(channels, "deposits", shapedAs(DepositsFrame), allDeposits);
    this.trading = new SocketOrders(context);
    context.socket.onState((state) => {
      if (state === "open") void this.keepSettingOption();
    });
  }

  /** State of the connection. */
  get state(): StreamState {
    return this.context.socket.state;
  }

  /** @internal Whether the venue ended it, with its session. */
  get isRefused(): boolean {
    return this.context.socket.isRefused;
  }

  /** The address of the gateway that the connection is open to. */
  get gateway(): string | undefined {
    return this.context.socket.gateway;
  }

  /** Milliseconds since the last message of the open connection; undefined without one. */
  get silentMs(): number | undefined {
    return this.context.socket.silentMs;
  }

  /**
   * At most how old what this connection has shown is, in milliseconds: the time since the newest ping that
   * was answered. It grows when messages arrive late, and falls with the answer to the ping of a heartbeat.
   * Undefined without an open connection.
   */
  get ageMs(): number | undefined {
    return this.context.socket.ageMs;
  }

  /**
   * Calls back whenever the state changes; returns a function that stops it.
   *
   * @example
   * const stop = session.stream.onState((state) => console.log(`account stream ${state}`));
   * stop();
   */
  onState(callback: (state: StreamState) => void): () => void {
    return this.context.socket.onState(callback);
  }

  /**
   * Calls back with every acknowledgement of this account, each once, across lost connections.
   *
   * @example
   * session.stream.watchPreconfirms(({ seq, orderId, status }) => console.log(seq, orderId, status), {
   *   since: 48_213,
   *   onGap: ({ since, seq }) => console.log(`lost: ${since} to ${seq}`),
   * });
   */
  watchPreconfirms(
    callback: (ack: PreconfirmFrame) => void,
    options: PrivateWatchOptions = {},
  ): Subscription {
    return this.preconfirms.watch(callback, options);
  }

  /**
   * Calls back with all open orders, then with each order that changes.
   *
   * @example
   * session.stream.watchOrders(({ type, orders }) => {
   *   for (const { orderId, status } of orders) console.log(type, orderId, status);
   * });
   */
  watchOrders(
    callback: (frame: OrdersFrame) => void,
    options: PrivateWatchOptions = {},
  ): Subscription {
    return this.orders.watch(callback, options);
  }

  /**
   * Calls back with all positions, then with each one that changes; a closed one has size 0.
   *
   * @example
   * session.stream.watchPositions(({ positions }) => {
   *   for (const { symbol, size } of positions) console.log(symbol, size);
   * });
   */
  watchPositions(
    callback: (frame: PositionsFrame) => void,
    options: PrivateWatchOptions = {},
  ): Subscription {
    return this.positions.watch(callback, options);
  }

  /**
   * Calls back with every fill of this account, each once, across lost connections.
   *
   * @example
   * session.stream.watchFills(({ fills }) => {
   *   for (const { orderId, clientOrderId, size, price } of fills) {
   *     console.log(orderId, clientOrderId, size, price);
   *   }
   * });
   */
  watchFills(
    callback: (frame: FillsFrame) => void,
    options: PrivateWatchOptions = {},
  ): Subscription {
    return this.fills.watch(callback, options);
  }

  /**
   * Calls back with what the account owns, then whenever a command has changed it.
   *
   * @example
   * session.stream.watchAccount(({ balance, available, equity }) => {
   *   console.log(balance, available, equity);
   * });
   */
  watchAccount(
    callback: (frame: AccountFrame) => void,
    options: PrivateWatchOptions = {},
  ): Subscription {
    return this.account.watch(callback, options);
  }

  /**
   * Calls back with all deposits, then with each one that changes.
   *
   * @example
   * session.stream.watchDeposits(({ deposits }) => {
   *   for (const { depositId, status } of deposits) console.log(depositId, status);
   * });
   */
  watchDeposits(
    callback: (frame: DepositsFrame) => void,
    options: PrivateWatchOptions = {},
  ): Subscription {
    return this.deposits.watch(callback, options);
  }

  /**
   * Like `session.placeOrder`, retries included, over the socket.
   *
   * @example
   * const ack = await session.stream.placeOrder({
   *   symbol: "BTCUSD", side: "short", type: "limit", margin: 100, leverage: 5, price: 66_000,
   * });
   * console.log(ack.orderId, ack.status, ack.replayed);
   */
  placeOrder(order: NewOrder, options: CallOptions = {}): Promise<PlacedOrder> {
    return this.trading.place(order, options);
  }

  /**
   * Like `session.amendOrder`, over the socket.
   *
   * @example
   * const amended = await session.stream.amendOrder({ clientOrderId: "bid-1", price: 60_100 });
   * console.log(amended.orderId, amended.status);
   */
  amendOrder(amendment: OrderAmendment, options: CallOptions = {}): Promise<PlacedOrder> {
    return this.trading.amend(amendment, options);
  }

  /**
   * Like `session.batch`, over the socket.
   *
   * @example
   * const { results } = await session.stream.batch([{ op: "cancel", clientOrderId: "bid-1" }]);
   * console.log(results[0]?.status);
   */
  batch(
    operations: readonly NewOperation[],
    options: BatchOptions = {},
  ): Promise<Replayable<BatchAnswer>> {
    return this.trading.batch(operations, options);
  }

  /**
   * Like `session.cancelOrder`, over the socket.
   *
   * @example
   * const { remainingSize } = await session.stream.cancelOrder("48213");
   * console.log(remainingSize);
   */
  cancelOrder(order: OrderName, options: CancelOptions = {}): Promise<CanceledOrder> {
    return this.trading.cancel(order, options);
  }

  /**
   * Like `session.cancelAll`, over the socket.
   *
   * @example
   * const { canceled } = await session.stream.cancelAll({ symbol: "BTCUSD" });
   * console.log(`${canceled.length} orders canceled`);
   */
  cancelAll(options: CancelAllOptions = {}): Promise<CanceledOrders> {
    return this.trading.cancelAll(options);
  }

  /**
   * Whether the venue cancels the session's open orders when its last socket closes. The venue
   * remembers it until the session ends. A reconnection counts as a close, so the orders are
   * canceled; `watchOrders` shows it with the reason `disconnected`. With several gateways a socket that
   * moves is open at the next one before it is closed, and a killed gateway's sockets count for some
   * seconds more, so neither cancels.
   *
   * @example
   * await session.stream.cancelOnDisconnect(true);
   */
  async cancelOnDisconnect(isOn: boolean, options: CallOptions = {}): Promise<void> {
    await this.whileNotDue(async () => {
      await this.trading.setCancelOnDisconnect(isOn, options);
      this.cancelsOnDisconnect = isOn;
    });
  }

  /** @internal Continues with the token of a renewed session. */
  async rebind(token: string): Promise<void> {
    const { socket, rules } = this.context;
    if (socket.state === "closed") return;
    await socket.rebind(token, { timeoutMs: rules.timeoutMs, signal: undefined });
    if (this.cancelsOnDisconnect) await this.restoreCancelOnDisconnect();
  }

  /** @internal Sets the option in a renewed session: now if connected, else on the next connection. */
  async restoreCancelOnDisconnect(): Promise<void> {
    this.cancelsOnDisconnect = true;
    this.isOptionDue = true;
    this.context.socket.open();
    try {
      await this.whileOpen((signal) => this.setDueOption({ signal }));
    } catch (error) {
      void this.keepSettingOption();
      throw error;
    }
  }

  /**
   * @internal The old session must not cancel its orders when the socket leaves it. Orders wait for this,
   * so it waits for no connection: without one there is nothing to leave. With several gateways the old
   * session's socket at a lost one still counts for some seconds; after them the venue cancels its orders.
   */
  async beforeRebind(): Promise<void> {
    if (!this.cancelsOnDisconnect) return;
    await this.whileNotDue(() =>
      this.whileOpen((signal) => this.trading.setCancelOnDisconnect(false, { signal })),
    );
  }

  /** What this sends decides about the option: a due one is not set behind it, and stays due if it fails. */
  private async whileNotDue(send: () => Promise<void>): Promise<void> {
    const wasDue = this.isOptionDue;
    this.isOptionDue = false;
    try {
      await send();
    } catch (error) {
      this.isOptionDue ||= wasDue;
      void this.keepSettingOption();
      throw error;
    }
  }

  private async setDueOption(options: CallOptions): Promise<void> {
    await this.trading.setCancelOnDisconnect(true, options);
    this.isOptionDue = false;
  }

  /** Tries until the due option is set or the connection is lost; the next connection begins again. */
  private async keepSettingOption(): Promise<void> {
    if (this.isSettingOption) return;
    this.isSettingOption = true;
    await this.whileOpen(async (signal) => {
      for (let failures = 0; this.isOptionDue; failures++) {
        // Without retries: the user may set the option meanwhile.
        await this.setDueOption({ signal, retries: 0 }).catch(() =>
          pause(backoffMs(failures, RECONNECT_BACKOFF), signal),
        );
      }
    }).finally(() => {
      this.isSettingOption = false;
    });
  }

  /** Sends nothing without a connection; resolves when that is lost before the response. */
  private async whileOpen(send: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.state !== "open") return;
    const lost = new AbortController();
    const stop = this.onState(() => lost.abort());
    try {
      await send(lost.signal);
    } catch (error) {
      if (!lost.signal.aborted) throw error;
    } finally {
      stop();
    }
  }

  /**
   * Ends all watches and the connection; the session stays.
   *
   * @example
   * session.stream.close();
   */
  close(): void {
    this.context.socket.close();
  }
}
