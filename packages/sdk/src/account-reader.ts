/** Everything that a session may read about its own account. */

import {
  Account,
  AttestedDeposit,
  type Deposit,
  Deposits,
  type Fill,
  Fills,
  Order,
  Orders,
  type Position,
  Positions,
  PreconfirmProof,
} from "@perpgate/protocol";
import type { Static, TSchema } from "typebox";
import type { HttpClient, Request } from "./http/http-client.js";
import type { CallOptions } from "./http/retry.js";

export interface OrdersOptions extends CallOptions {
  /** `open` unless told otherwise. */
  readonly status?: "open" | "all";
  /** Only the order with this nonce. */
  readonly nonce?: number;
}

export interface FillsOptions extends CallOptions {
  /** Entries at most, 1 to 1,000. */
  readonly limit?: number;
  /** Only fills before this one, for the next page. */
  readonly before?: string;
}

/** What the two halves of a session share. */
export interface SessionContext {
  readonly http: HttpClient;
  readonly address: string;
  readonly token: string;
}

export class AccountReader {
  /** @internal */
  protected readonly context: SessionContext;

  protected constructor(context: SessionContext) {
    this.context = context;
  }

  /**
   * Money, cohort and what this session may do.
   *
   * @example
   * const { balance, available, equity } = await session.account();
   * console.log(balance, available, equity);
   */
  account(options?: CallOptions): Promise<Account> {
    return this.read("/v1/account", Account, {}, options);
  }

  /**
   * Orders that rest in a book or wait for their trigger.
   *
   * @example
   * for (const { orderId, symbol, price } of await session.openOrders()) {
   *   console.log(orderId, symbol, price);
   * }
   */
  openOrders(options?: CallOptions): Promise<Order[]> {
    return this.orders({ ...options, status: "open" });
  }

  /**
   * Own orders, newest first; by nonce, to learn what became of one whose answer was lost.
   *
   * @example
   * const [order] = await session.orders({ status: "all", nonce: 41 });
   * console.log(order === undefined ? "never placed" : order.status);
   */
  orders({ status, nonce, ...options }: OrdersOptions = {}): Promise<Order[]> {
    return this.read("/v1/orders", Orders, { status, nonce }, options);
  }

  /**
   * One own order.
   *
   * @example
   * const { status, filledSize } = await session.order("48213");
   * console.log(status, filledSize);
   */
  order(orderId: string, options?: CallOptions): Promise<Order> {
    return this.read(`/v1/orders/${encodeURIComponent(orderId)}`, Order, {}, options);
  }

  /**
   * Own positions, one per market.
   *
   * @example
   * for (const { symbol, size, unrealizedPnl, liquidationPrice } of await session.positions()) {
   *   console.log(symbol, size, unrealizedPnl, liquidationPrice);
   * }
   */
  positions(options?: CallOptions): Promise<Position[]> {
    return this.read("/v1/positions", Positions, {}, options);
  }

  /**
   * Own fills, newest first.
   *
   * @example
   * const page = await session.fills({ limit: 100 });
   * const last = page.at(-1);
   * if (last !== undefined) console.log(await session.fills({ before: last.id }));
   */
  fills({ limit, before, ...options }: FillsOptions = {}): Promise<Fill[]> {
    return this.read("/v1/fills", Fills, { limit, before }, options);
  }

  /**
   * Own deposits.
   *
   * @example
   * for (const { depositId, status, credits } of await session.deposits()) {
   *   console.log(depositId, status, credits);
   * }
   */
  deposits(options?: CallOptions): Promise<Deposit[]> {
    return this.read("/v1/bridge/deposits", Deposits, {}, options);
  }

  /**
   * One own deposit, with the votes of its attestors.
   *
   * @example
   * const { status, confirmations, required } = await session.depositById("48213");
   * console.log(status, `${confirmations}/${required}`);
   */
  depositById(depositId: string, options?: CallOptions): Promise<AttestedDeposit> {
    const path = `/v1/bridge/deposits/${encodeURIComponent(depositId)}`;
    return this.read(path, AttestedDeposit, {}, options);
  }

  /**
   * An acknowledgement with the proof that its block holds it; `not_sealed` until it does.
   * `checkPreconfirm` checks it.
   *
   * @example
   * const { ack, block, index, leaf, path } = await session.preconfirm("48213");
   * console.log(ack.status, block, index, leaf, path.length);
   */
  preconfirm(ackNonce: string, options?: CallOptions): Promise<PreconfirmProof> {
    const path = `/v1/preconfirms/${encodeURIComponent(ackNonce)}`;
    return this.read(path, PreconfirmProof, {}, options);
  }

  private read<T extends TSchema>(
    path: string,
    answer: T,
    query: NonNullable<Request<T>["query"]>,
    options: CallOptions | undefined,
  ): Promise<Static<T>> {
    const { http, token } = this.context;
    const lane = this.lane("reads");
    return http.ask({ method: "GET", path, query, token, answer, lane, options });
  }

  /** The venue counts these by account. */
  protected lane(limit: string): string {
    return `${limit} of ${this.context.address}`;
  }
}
