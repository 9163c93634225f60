/** `session.stream`: the account's streams, and orders over the same socket. */

import { BatchAnswer, CanceledOrder, PreconfirmAck } from "@perpgate/protocol";
import {
  messageOf,
  socketAmend,
  socketBatch,
  socketCancel,
  socketOrder,
  socketSession,
} from "@perpgate/protocol/operations";
import type { BatchOptions } from "../account-trader.js";
import { PerpgateError } from "../errors.js";
import { hasShape } from "../http/answer-shape.js";
import type { Pacer } from "../http/pacer.js";
import {
  amendText,
  batchText,
  type NewOperation,
  type NewOrder,
  type OrderAmendment,
} from "../orders/order-body.js";
import type {
  OrderClient,
  OrderTransport,
  PlacedOrder,
  Replayable,
  Transport,
} from "../orders/order-client.js";
import {
  type Attempt,
  type CallOptions,
  type RetryRules,
  rulesWith,
  withRetries,
} from "../retry.js";
import { ChannelRegistry } from "./channel-registry.js";
import {
  type FrameReader,
  PrivateChannel,
  type PrivateWatchOptions,
  type StateKeeper,
} from "./private-channel.js";
import {
  type AccountFrame,
  allDeposits,
  type DepositsFrame,
  type FillsFrame,
  latestAccount,
  type OrdersFrame,
  openOrders,
  openPositions,
  type PositionsFrame,
  type PreconfirmFrame,
  readAccount,
  readDeposits,
  readFills,
  readOrders,
  readPositions,
  readPreconfirm,
} from "./private-frames.js";
import type { StreamState } from "./socket-link.js";
import type { StreamSocket } from "./stream-socket.js";
import type { Subscription } from "./subscription.js";

/** What the stream uses of its session. */
export interface StreamContext {
  readonly socket: StreamSocket;
  readonly orderClient: OrderClient;
  readonly rules: RetryRules;
  readonly orderPacer: Pacer;
  readonly cancelPacer: Pacer;
  /** The result of a cancel that failed after an earlier try. */
  settleCancel(orderId: string, error: unknown): Promise<CanceledOrder>;
}

export class SessionStream {
  private readonly preconfirms: ChannelRegistry<PrivateChannel<PreconfirmFrame>>;
  private readonly orders: ChannelRegistry<PrivateChannel<OrdersFrame>>;
  private readonly positions: ChannelRegistry<PrivateChannel<PositionsFrame>>;
  private readonly fills: ChannelRegistry<PrivateChannel<FillsFrame>>;
  private readonly account: ChannelRegistry<PrivateChannel<AccountFrame>>;
  private readonly deposits: ChannelRegistry<PrivateChannel<DepositsFrame>>;
  private cancelsOnDisconnect = false;

  /** @internal */
  constructor(private readonly context: StreamContext) {
    const { channels } = context.socket;
    this.preconfirms = new ChannelRegistry(channels);
    this.orders = new ChannelRegistry(channels);
    this.positions = new ChannelRegistry(channels);
    this.fills = new ChannelRegistry(channels);
    this.account = new ChannelRegistry(channels);
    this.deposits = new ChannelRegistry(channels);
  }

  /** State of the connection. */
  get state(): StreamState {
    return this.context.socket.state;
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
    return watch(
      this.preconfirms,
      "preconfirms",
      readPreconfirm,
      () => undefined,
      callback,
      options,
    );
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
    return watch(this.orders, "orders", readOrders, openOrders, callback, options);
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
    return watch(this.positions, "positions", readPositions, openPositions, callback, options);
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
    return watch(this.fills, "fills", readFills, () => undefined, callback, options);
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
    return watch(this.account, "account", readAccount, latestAccount, callback, options);
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
    return watch(this.deposits, "deposits", readDeposits, allDeposits, callback, options);
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
    return this.context.orderClient.place(order, options, this.sendSigned(socketOrder));
  }

  /**
   * Like `session.amendOrder`, over the socket.
   *
   * @example
   * const amended = await session.stream.amendOrder({ clientOrderId: "bid-1", price: 60_100 });
   * console.log(amended.orderId, amended.status);
   */
  amendOrder(amendment: OrderAmendment, options: CallOptions = {}): Promise<PlacedOrder> {
    const textOf = (nonce: number) => amendText(amendment, nonce);
    const send = this.sendSigned(socketAmend);
    return this.context.orderClient.submit(amendment.nonce, textOf, options, send);
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
    { validUntil, nonce: given, ...options }: BatchOptions = {},
  ): Promise<Replayable<BatchAnswer>> {
    const textOf = (nonce: number) => batchText(operations, validUntil, nonce);
    return this.context.orderClient.submit(given, textOf, options, this.sendBatch);
  }

  /**
   * Like `session.cancelOrder`, over the socket.
   *
   * @example
   * const { remainingSize } = await session.stream.cancelOrder("48213");
   * console.log(remainingSize);
   */
  async cancelOrder(orderId: string, options: CallOptions = {}): Promise<CanceledOrder> {
    const rules = rulesWith(options, this.context.rules);
    try {
      return await withRetries(rules, options.signal, (attempt) =>
        this.cancelOnce(orderId, attempt, options.signal),
      );
    } catch (error) {
      return this.context.settleCancel(orderId, error);
    }
  }

  /**
   * Whether the venue cancels the session's open orders when its last socket closes. The venue
   * remembers it until the session ends. A reconnection counts as a close, so the orders are
   * canceled; `watchOrders` shows it with the reason `disconnected`.
   *
   * @example
   * await session.stream.cancelOnDisconnect(true);
   */
  async cancelOnDisconnect(isOn: boolean, options: CallOptions = {}): Promise<void> {
    const message = messageOf(socketSession, { cancelOnDisconnect: isOn });
    const rules = rulesWith(options, this.context.rules);
    await withRetries(rules, options.signal, (attempt) =>
      this.request(message, attempt, options.signal),
    );
    this.cancelsOnDisconnect = isOn;
  }

  /** @internal Continues with the token of a renewed session. */
  async rebind(token: string): Promise<void> {
    const { socket, rules } = this.context;
    await socket.rebind(token, { timeoutMs: rules.timeoutMs, signal: undefined });
    if (this.cancelsOnDisconnect) await this.cancelOnDisconnect(true);
  }

  /** @internal The old session must not cancel its orders when the socket leaves it. */
  async beforeRebind(): Promise<void> {
    if (!this.cancelsOnDisconnect) return;
    await this.cancelOnDisconnect(false);
    this.cancelsOnDisconnect = true;
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

  private sendSigned(operation: typeof socketOrder | typeof socketAmend): OrderTransport {
    return ({ body, signature }, attempt, signal) =>
      paced(this.context.orderPacer, signal, async () => {
        const message = messageOf(operation, { body, sig: signature });
        const { ack, replayed } = await this.request(message, attempt, signal);
        if (!hasShape(PreconfirmAck, ack)) throw unexpectedAnswer(operation.op);
        return { ...ack, replayed: replayed === true };
      });
  }

  private readonly sendBatch: Transport<Replayable<BatchAnswer>> = (signed, attempt, signal) =>
    paced(this.context.orderPacer, signal, async () => {
      const message = messageOf(socketBatch, { body: signed.body, sig: signed.signature });
      const { batch, replayed } = await this.request(message, attempt, signal);
      if (!hasShape(BatchAnswer, batch)) throw unexpectedAnswer("batch");
      return { results: batch.results, replayed: replayed === true };
    });

  private cancelOnce(
    orderId: string,
    attempt: Attempt,
    signal: AbortSignal | undefined,
  ): Promise<CanceledOrder> {
    return paced(this.context.cancelPacer, signal, async () => {
      const { canceled } = await this.request(
        messageOf(socketCancel, { orderId }),
        attempt,
        signal,
      );
      if (!hasShape(CanceledOrder, canceled)) throw unexpectedAnswer("cancel");
      return canceled;
    });
  }

  private request(message: object, { timeoutMs, begin }: Attempt, signal: AbortSignal | undefined) {
    begin();
    return this.context.socket.request(message, { timeoutMs, signal });
  }
}

/** Like `pacer.run`; a `rate_limited` error delays the next requests. */
function paced<T>(
  pacer: Pacer,
  signal: AbortSignal | undefined,
  send: () => Promise<T>,
): Promise<T> {
  return pacer.run(signal, async () => {
    try {
      return await send();
    } catch (error) {
      if (error instanceof PerpgateError && error.code === "rate_limited") {
        pacer.holdFor(error.retryAfterMs ?? 0);
      }
      throw error;
    }
  });
}

function unexpectedAnswer(operation: string): PerpgateError {
  const message = `the response to ${operation} has another shape; is this a newer gateway?`;
  const body = { code: "unexpected_answer", message, requestId: "" };
  return new PerpgateError(body, { status: 0, outcome: "unknown" });
}

/** A second watch shares the stream of the first, so it cannot start at another seq. */
function watch<T extends { readonly seq: number }>(
  registry: ChannelRegistry<PrivateChannel<T>>,
  stream: string,
  read: FrameReader<T>,
  newState: () => StateKeeper<T> | undefined,
  callback: (value: T) => void,
  options: PrivateWatchOptions,
): Subscription {
  const { since, onGap } = options;
  const known = registry.get(stream);
  if (known !== undefined && (since !== undefined || !known.canBeJoined)) {
    throw new TypeError(`${stream} is watched already; close that watch before resuming another`);
  }
  const channel = registry.getOrCreate(
    stream,
    (onEmpty) => new PrivateChannel(stream, read, newState(), since, onEmpty),
  );
  return channel.watch({ callback, options }, onGap);
}
