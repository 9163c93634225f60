/** What a session can read about its account. */

import type {
  Account,
  AttestedDeposit,
  AttestedWithdrawal,
  Deposit,
  Fill,
  FundingPayment,
  LedgerEntry,
  Order,
  Position,
  PreconfirmProof,
  SessionInfo,
  Withdrawal,
} from "@perpgate/protocol";
import {
  getAccount,
  getDeposit,
  getDeposits,
  getFills,
  getFundingPayments,
  getLedger,
  getOrder,
  getOrders,
  getPositions,
  getPreconfirm,
  getPreconfirmProof,
  getSessions,
  getWithdrawal,
  getWithdrawals,
  type Operation,
  type ResultOf,
} from "@perpgate/protocol/operations";
import type { HttpClient, Input, SessionIdentity } from "./http/http-client.js";
import type { CallOptions } from "./retry.js";

export interface OrdersOptions extends SpanOptions {
  /** Default: `open`. */
  readonly status?: "open" | "all";
  /** Only the order with this nonce. */
  readonly nonce?: number;
  /** Only orders with this id of yours; of the open ones at most one has it. */
  readonly clientOrderId?: string;
  /** Only orders in this market. */
  readonly symbol?: string;
}

/** Which entries of a list; `before` and `after` are ids, and not among the entries. */
export interface PageOptions extends CallOptions {
  /** Maximum number of entries, 1 to 1,000. */
  readonly limit?: number;
  /** Only entries before this one: the next page. */
  readonly before?: string;
  /** Only entries after this one, the oldest first; otherwise the newest come first. */
  readonly after?: string;
}

export interface SpanOptions extends PageOptions {
  /** Only entries of this time or later, in Unix milliseconds. */
  readonly from?: number;
  /** Only entries before this time. */
  readonly to?: number;
}

export interface FillsOptions extends SpanOptions {
  /** Only fills in this market. */
  readonly symbol?: string;
}

export class AccountReader {
  /** The account, as an EIP-55 address. */
  readonly address: string;
  /** @internal */
  protected currentToken: string;
  /** @internal */
  protected readonly http: HttpClient;

  protected constructor(http: HttpClient, { address, token }: SessionIdentity) {
    this.http = http;
    this.address = address;
    this.currentToken = token;
  }

  /** The bearer token of the session; keep it like a password. Renewal replaces it. */
  get token(): string {
    return this.currentToken;
  }

  /**
   * Balances, cohort and the caps of this session.
   *
   * @example
   * const { balance, available, equity } = await session.account();
   * console.log(balance, available, equity);
   */
  account(options?: CallOptions): Promise<Account> {
    return this.call(getAccount, { options });
  }

  /**
   * The account's live sessions, oldest first.
   *
   * @example
   * for (const { id, domain, expiresAt, current } of await session.sessions()) {
   *   console.log(id, domain, expiresAt, current);
   * }
   */
  sessions(options?: CallOptions): Promise<SessionInfo[]> {
    return this.call(getSessions, { options });
  }

  /**
   * Orders that rest in a book or wait for their trigger price.
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
   * Own orders: the open ones, oldest first, or with `status: "all"` those in any state, newest first.
   * With `nonce`: the order whose response was lost. With `clientOrderId`: those that you named so.
   *
   * @example
   * const [order] = await session.orders({ status: "all", nonce: 41 });
   * console.log(order === undefined ? "never placed" : order.status);
   */
  orders(given: OrdersOptions = {}): Promise<Order[]> {
    const { status, nonce, clientOrderId, symbol, limit, before, after, from, to, ...options } =
      given;
    const query = { status, nonce, clientOrderId, symbol, limit, before, after, from, to };
    return this.call(getOrders, { query, options });
  }

  /**
   * One own order.
   *
   * @example
   * const { status, filledSize } = await session.order("48213");
   * console.log(status, filledSize);
   */
  order(orderId: string, options?: CallOptions): Promise<Order> {
    return this.call(getOrder, { params: { id: orderId }, options });
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
    return this.call(getPositions, { options });
  }

  /**
   * Own fills, newest first.
   *
   * @example
   * const page = await session.fills({ limit: 100 });
   * const last = page.at(-1);
   * if (last !== undefined) console.log(await session.fills({ before: last.id }));
   */
  fills({
    symbol,
    limit,
    before,
    after,
    from,
    to,
    ...options
  }: FillsOptions = {}): Promise<Fill[]> {
    const query = { symbol, limit, before, after, from, to };
    return this.call(getFills, { query, options });
  }

  /**
   * Every change of the balance, newest first; the amounts add up to it.
   *
   * @example
   * for (const { kind, amount, balance } of await session.ledger({ limit: 20 })) {
   *   console.log(kind, amount, balance);
   * }
   */
  ledger(given: FillsOptions = {}): Promise<LedgerEntry[]> {
    const { symbol, limit, before, after, from, to, ...options } = given;
    const query = { symbol, limit, before, after, from, to };
    return this.call(getLedger, { query, options });
  }

  /**
   * Funding received and, negative, paid, newest first.
   *
   * @example
   * const [last] = await session.fundingPayments({ symbol: "BTCUSD" });
   * console.log(last?.amount, last?.time);
   */
  fundingPayments(given: FillsOptions = {}): Promise<FundingPayment[]> {
    const { symbol, limit, before, after, from, to, ...options } = given;
    const query = { symbol, limit, before, after, from, to };
    return this.call(getFundingPayments, { query, options });
  }

  /**
   * Own deposits, newest first.
   *
   * @example
   * for (const { depositId, status, credits } of await session.deposits()) {
   *   console.log(depositId, status, credits);
   * }
   */
  deposits({ limit, before, after, ...options }: PageOptions = {}): Promise<Deposit[]> {
    return this.call(getDeposits, { query: { limit, before, after }, options });
  }

  /**
   * One own deposit, with the votes of its attestors.
   *
   * @example
   * const { status, confirmations, required } = await session.depositById("48213");
   * console.log(status, `${confirmations}/${required}`);
   */
  depositById(depositId: string, options?: CallOptions): Promise<AttestedDeposit> {
    return this.call(getDeposit, { params: { id: depositId }, options });
  }

  /**
   * Own withdrawals, newest first.
   *
   * @example
   * for (const { withdrawalId, amount, status } of await session.withdrawals()) {
   *   console.log(withdrawalId, amount, status);
   * }
   */
  withdrawals({ limit, before, after, ...options }: PageOptions = {}): Promise<Withdrawal[]> {
    return this.call(getWithdrawals, { query: { limit, before, after }, options });
  }

  /**
   * One own withdrawal, with the signed votes of the attestors.
   *
   * @example
   * const { status, txHash, votes } = await session.withdrawalById("48213");
   * console.log(status, txHash, votes.length);
   */
  withdrawalById(withdrawalId: string, options?: CallOptions): Promise<AttestedWithdrawal> {
    return this.call(getWithdrawal, { params: { id: withdrawalId }, options });
  }

  /**
   * An acknowledgement with the proof that its block contains it; `not_sealed` until it does.
   * `checkPreconfirm` checks it.
   *
   * @example
   * const { ack, block, index, leaf, path } = await session.preconfirm("48213");
   * console.log(ack.status, block, index, leaf, path.length);
   */
  preconfirm(ackNonce: string, options?: CallOptions): Promise<PreconfirmProof> {
    return this.call(getPreconfirm, { params: { ackNonce }, options });
  }

  /**
   * The proof that an own acknowledgement is sealed, as one text file to keep: `checkOrderProof` checks it
   * without a network. `not_in_checkpoint` for about a second after the order.
   *
   * @example
   * const text = await session.preconfirmProof("48213");
   * const checked = await checkOrderProof(text);
   * console.log(typeof checked === "string" ? checked : `sealed in block ${checked.block.number}`);
   */
  preconfirmProof(ackNonce: string, options?: CallOptions): Promise<string> {
    return this.call(getPreconfirmProof, { params: { ackNonce }, options });
  }

  /** @internal */
  protected call<O extends Operation>(operation: O, input: Input<O>): Promise<ResultOf<O>> {
    const { address, token } = this;
    return this.http.call(operation, { ...input, session: { address, token } });
  }
}
