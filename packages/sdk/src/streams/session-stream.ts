/** What `session.stream` offers: the account, live, and orders over the same socket. */

import { CanceledOrder, PreconfirmAck } from "@perpgate/protocol";
import { PerpgateError } from "../errors.js";
import { hasShape } from "../http/answer-shape.js";
import type { Pacer } from "../http/pacer.js";
import {
  type Attempt,
  type CallOptions,
  type RetryRules,
  rulesWith,
  withRetries,
} from "../http/retry.js";
import type { NewOrder } from "../orders/order-body.js";
import type { OrderCarrier, OrderDesk, PlacedOrder } from "../orders/order-desk.js";
import {
  type FrameReader,
  PrivateChannel,
  type PrivateWatchOptions,
  type StateKeeper,
} from "./private-channel.js";
import {
  allDeposits,
  type DepositsFrame,
  type OrdersFrame,
  openOrders,
  openPositions,
  type PositionsFrame,
  type PreconfirmFrame,
  readDeposits,
  readOrders,
  readPositions,
  readPreconfirm,
} from "./private-frames.js";
import { Shelf } from "./shelf.js";
import type { StreamState } from "./socket-link.js";
import type { StreamSocket } from "./stream-socket.js";
import type { Subscription } from "./subscription.js";

/** What a session lends its stream. */
export interface StreamContext {
  readonly socket: StreamSocket;
  readonly desk: OrderDesk;
  readonly rules: RetryRules;
  readonly orders: Pacer;
  readonly cancels: Pacer;
  /** What a cancel means that was refused after an earlier try. */
  settleCancel(orderId: string, error: unknown): Promise<CanceledOrder>;
}

export class SessionStream {
  private readonly preconfirms: Shelf<PrivateChannel<PreconfirmFrame>>;
  private readonly orders: Shelf<PrivateChannel<OrdersFrame>>;
  private readonly positions: Shelf<PrivateChannel<PositionsFrame>>;
  private readonly deposits: Shelf<PrivateChannel<DepositsFrame>>;

  /** @internal */
  constructor(private readonly context: StreamContext) {
    const { channels } = context.socket;
    this.preconfirms = new Shelf(channels);
    this.orders = new Shelf(channels);
    this.positions = new Shelf(channels);
    this.deposits = new Shelf(channels);
  }

  /** How the connection is. */
  get state(): StreamState {
    return this.context.socket.state;
  }

  /**
   * Calls back whenever the connection changes; answers how to stop that.
   *
   * @example
   * const stop = session.stream.onState((state) => console.log(`account stream ${state}`));
   * stop();
   */
  onState(callback: (state: StreamState) => void): () => void {
    return this.context.socket.onState(callback);
  }

  /**
   * Calls back with every acknowledgement of this account, each once, also over lost connections.
   *
   * @example
   * session.stream.watchPreconfirms(({ seq, orderId, status }) => console.log(seq, orderId, status), {
   *   since: 48_213,
   *   onGap: ({ since, seq }) => console.log(`nothing is known from ${since} to ${seq}`),
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
   * Places an order over the socket. It means what `session.placeOrder` means, retries included.
   *
   * @example
   * const ack = await session.stream.placeOrder({
   *   symbol: "BTCUSD", side: "short", type: "limit", margin: 100, leverage: 5, price: 66_000,
   * });
   * console.log(ack.orderId, ack.status, ack.replayed);
   */
  placeOrder(order: NewOrder, options: CallOptions = {}): Promise<PlacedOrder> {
    return this.context.desk.place(order, options, this.carryOrder);
  }

  /**
   * Cancels an order over the socket. It means what `session.cancelOrder` means.
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
   * Whether the session's open orders are to go with its last socket, this one or another. The
   * venue remembers it until the session ends. A connection that is lost and made again counts as
   * lost, so the orders are gone; `watchOrders` tells of it, with the reason `disconnected`.
   *
   * @example
   * await session.stream.cancelOnDisconnect(true);
   */
  async cancelOnDisconnect(isOn: boolean, options: CallOptions = {}): Promise<void> {
    const message = { op: "session", cancelOnDisconnect: isOn };
    const rules = rulesWith(options, this.context.rules);
    await withRetries(rules, options.signal, (attempt) =>
      this.ask(message, attempt, options.signal),
    );
  }

  /**
   * Ends all watches and the connection, not the session.
   *
   * @example
   * session.stream.close();
   */
  close(): void {
    this.context.socket.close();
  }

  private readonly carryOrder: OrderCarrier = ({ body, signature }, attempt, signal) =>
    inLane(this.context.orders, signal, async () => {
      const answer = await this.ask({ op: "order", body, sig: signature }, attempt, signal);
      const { ack, replayed } = answer;
      if (!hasShape(PreconfirmAck, ack)) throw unexpectedAnswer("order");
      return { ...ack, replayed: replayed === true };
    });

  private cancelOnce(
    orderId: string,
    attempt: Attempt,
    signal: AbortSignal | undefined,
  ): Promise<CanceledOrder> {
    return inLane(this.context.cancels, signal, async () => {
      const { canceled } = await this.ask({ op: "cancel", orderId }, attempt, signal);
      if (!hasShape(CanceledOrder, canceled)) throw unexpectedAnswer("cancel");
      return canceled;
    });
  }

  private ask(message: object, { timeoutMs, begin }: Attempt, signal: AbortSignal | undefined) {
    begin();
    return this.context.socket.request(message, { timeoutMs, signal });
  }
}

/** A lane that learns from this answer too: a refusal for being too fast holds it up. */
function inLane<T>(
  lane: Pacer,
  signal: AbortSignal | undefined,
  send: () => Promise<T>,
): Promise<T> {
  return lane.run(signal, async () => {
    try {
      return await send();
    } catch (error) {
      if (error instanceof PerpgateError && error.code === "rate_limited") {
        lane.holdFor(error.retryAfterMs ?? 0);
      }
      throw error;
    }
  });
}

function unexpectedAnswer(operation: string): PerpgateError {
  const message = `the answer to ${operation} has another shape; is this a newer gateway?`;
  const body = { code: "unexpected_answer", message, requestId: "" };
  return new PerpgateError(body, { status: 0, outcome: "unknown" });
}

/** A second watch shares the first one's stream, so it cannot begin somewhere else. */
function watch<T extends { readonly seq: number }>(
  shelf: Shelf<PrivateChannel<T>>,
  stream: string,
  read: FrameReader<T>,
  newState: () => StateKeeper<T> | undefined,
  callback: (value: T) => void,
  options: PrivateWatchOptions,
): Subscription {
  const { since, onGap } = options;
  const known = shelf.get(stream);
  if (known !== undefined && (since !== undefined || !known.canBeJoined)) {
    throw new TypeError(`${stream} is watched already; close that watch before resuming another`);
  }
  const channel = shelf.take(
    stream,
    (onEmpty) => new PrivateChannel(stream, read, newState(), since, onEmpty),
  );
  return channel.watch({ callback, options }, onGap);
}
