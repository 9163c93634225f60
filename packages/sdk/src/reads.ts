/**
 * What can be read: of the venue by anybody, of an account by its session. Each method is an operation of
 * the contract: its path's parameter, then the fields of its query together with the options of the call.
 */

import type {
  Account,
  AttestedDeposit,
  AttestedWithdrawal,
  Block,
  Book,
  BridgeInfo,
  Candle,
  CandlePrice,
  Chain,
  Deposit,
  Fill,
  FundingPayment,
  FundingPoint,
  Honesty,
  LedgerEntry,
  Liability,
  Market,
  Nonce,
  OpenWithdrawals,
  Order,
  Position,
  PreconfirmProof,
  Reserves,
  Resolution,
  SessionInfo,
  Ticker,
  Trade,
  VenueStatus,
  Withdrawal,
} from "@perpgate/protocol";
import {
  getAccount,
  getAsyncApi,
  getBlock,
  getBook,
  getBridge,
  getCandles,
  getDeposit,
  getDeposits,
  getFills,
  getFunding,
  getFundingPayments,
  getHealth,
  getHonesty,
  getLatestBlock,
  getLedger,
  getLiability,
  getMarkets,
  getNonce,
  getOpenApi,
  getOpenWithdrawals,
  getOrder,
  getOrders,
  getPositions,
  getPreconfirm,
  getPreconfirmProof,
  getReadiness,
  getReserves,
  getSessions,
  getStatus,
  getTicker,
  getTickers,
  getTime,
  getTrades,
  getWithdrawal,
  getWithdrawals,
  type Operation,
  type ParamsOf,
  type QueryOf,
  type ResultOf,
} from "@perpgate/protocol/operations";
import type { HttpClient, Input, SessionIdentity } from "./http/http-client.js";
import type { CallOptions } from "./retry.js";

/** A price in dollars and a size in units of base. */
export type PriceLevel = readonly [price: number, size: number];

/** A snapshot of the book, best prices first. */
export type BookSnapshot = Omit<Book, "bids" | "asks"> & {
  readonly bids: readonly PriceLevel[];
  readonly asks: readonly PriceLevel[];
};

export type Health = ResultOf<typeof getHealth>;
export type Readiness = ResultOf<typeof getReadiness>;

export interface LimitOption extends CallOptions {
  /** Maximum number of entries, 1 to 1,000. */
  readonly limit?: number;
}

export interface DepthOption extends CallOptions {
  /** Levels per side, 1 to 5,000. */
  readonly depth?: number;
}

/** Which entries of a list; `before` and `after` are ids, and not among the entries. */
export interface PageOptions extends LimitOption {
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

export type TradesOptions = SpanOptions;

export interface FillsOptions extends SpanOptions {
  /** Only entries in this market. */
  readonly symbol?: string;
}

export interface OrdersOptions extends FillsOptions {
  /** Default: `open`. */
  readonly status?: "open" | "all";
  /** Only the order with this nonce. */
  readonly nonce?: number;
  /** Only orders with this id of yours; of the open ones at most one has it. */
  readonly clientOrderId?: string;
}

/** Entries whose time is their id; all times are in Unix milliseconds. */
export interface TimesOptions extends Omit<SpanOptions, "before" | "after"> {
  /** Only entries before this time. */
  readonly before?: number;
  /** Only entries after this time, the oldest first; otherwise the newest come first. */
  readonly after?: number;
}

export interface CandlesOptions extends TimesOptions {
  readonly resolution?: Resolution;
  /** What they are made of: `trades` (the default), `mark` or `index`. */
  readonly price?: CandlePrice;
}

/** An option that is undefined is one that is left out. */
type Given<Options> = { readonly [Name in keyof Options]?: Options[Name] | undefined };
export type Read<Result, Options = CallOptions> = (options?: Given<Options>) => Promise<Result>;
/** `name` is the symbol or the id in the operation's path. */
export type NamedRead<Result, Options = CallOptions> = (
  name: string,
  options?: Given<Options>,
) => Promise<Result>;

/** An operation without a body as a method. */
type ReadOf<O extends Operation> = [keyof ParamsOf<O>] extends [never]
  ? Read<ResultOf<O>, QueryOf<O> & CallOptions>
  : NamedRead<ResultOf<O>, QueryOf<O> & CallOptions>;

class Caller {
  /** @internal */
  protected readonly http: HttpClient;

  protected constructor(http: HttpClient) {
    this.http = http;
  }

  /** @internal Whom requests are made for. */
  protected get identity(): SessionIdentity | undefined {
    return undefined;
  }

  /** @internal */
  protected call<O extends Operation>(operation: O, input: Input<O>): Promise<ResultOf<O>> {
    const session = this.identity;
    return this.http.call(operation, session === undefined ? input : { ...input, session });
  }

  /** @internal */
  protected read<O extends Operation>(operation: O): ReadOf<O>;
  protected read(operation: Operation) {
    const [param] = Object.keys(operation.params.properties);
    const { properties } = operation.query;
    const ask = (params: Record<string, string>, given: object = {}) => {
      const entries = Object.entries(given);
      const query = Object.fromEntries(entries.filter(([name]) => name in properties));
      const options = Object.fromEntries(entries.filter(([name]) => !(name in properties)));
      return this.call(operation, { params, query, options });
    };
    if (param === undefined) return (given?: object) => ask({}, given);
    return (name: string, given?: object) => ask({ [param]: name }, given);
  }
}

/** What can be read without a session. */
export class MarketReader extends Caller {
  /**
   * Every listed market: tick, lot, leverage, fees, mark and index price.
   *
   * @example
   * for (const { symbol, markPrice, maxLeverage } of await client.markets()) {
   *   console.log(symbol, markPrice, `${maxLeverage}x`);
   * }
   */
  readonly markets: Read<Market[]> = this.read(getMarkets);

  /**
   * A snapshot of the order book. To follow it, `client.stream.watchBook` costs far less.
   *
   * @example
   * const { bids, asks } = await client.book("BTCUSD", { depth: 5 });
   * const [bestBid] = bids;
   * if (bestBid !== undefined) console.log(`bid ${bestBid[0]} for ${bestBid[1]}`, asks.length);
   */
  async book(symbol: string, { depth, ...options }: DepthOption = {}): Promise<BookSnapshot> {
    const book = await this.call(getBook, { params: { symbol }, query: { depth }, options });
    return { ...book, bids: book.bids.map(levelOf), asks: book.asks.map(levelOf) };
  }

  /**
   * Best prices, mark, index, funding and the last 24 hours.
   *
   * @example
   * const { bid, ask, mark, fundingRate } = await client.ticker("BTCUSD");
   * console.log(bid, ask, mark, fundingRate);
   */
  readonly ticker: NamedRead<Ticker> = this.read(getTicker);

  /**
   * The tickers of all markets, in listing order.
   *
   * @example
   * for (const { symbol, mark, change24h } of await client.tickers()) {
   *   console.log(symbol, mark, change24h);
   * }
   */
  readonly tickers: Read<Ticker[]> = this.read(getTickers);

  /**
   * The latest trades, newest first.
   *
   * @example
   * const [last] = await client.trades("BTCUSD", { limit: 1 });
   * console.log(last?.price, last?.size, last?.side);
   */
  readonly trades: NamedRead<Trade[], TradesOptions> = this.read(getTrades);

  /**
   * Candles of trades, the mark or the index: `1m`, `5m`, `15m`, `1h`, `4h` or `1d`.
   *
   * @example
   * const hours = await client.candles("BTCUSD", { resolution: "1h", limit: 24 });
   * console.log(hours.map(({ close }) => close));
   */
  readonly candles: NamedRead<Candle[], CandlesOptions> = this.read(getCandles);

  /**
   * Past funding, newest first.
   *
   * @example
   * const [latest] = await client.funding("BTCUSD", { limit: 1 });
   * console.log(latest?.rate, latest?.markPrice);
   */
  readonly funding: NamedRead<FundingPoint[], TimesOptions> = this.read(getFunding);

  /**
   * Where deposits go on each chain, and who attests them.
   *
   * @example
   * console.log(await client.bridge());
   */
  readonly bridge: Read<BridgeInfo> = this.read(getBridge);

  /**
   * Withdrawals of a chain that are not paid yet, oldest first, each with its proof and the attestors' votes.
   *
   * @example
   * const { withdrawals } = await client.openWithdrawals({ chain: "ethereum" });
   * console.log(withdrawals.map(({ withdrawalId, status }) => [withdrawalId, status]));
   */
  openWithdrawals({
    chain,
    after,
    ...options
  }: CallOptions & { readonly chain: Chain; readonly after?: string }): Promise<OpenWithdrawals> {
    const query = after === undefined ? { chain } : { chain, after };
    return this.call(getOpenWithdrawals, { query, options });
  }

  /**
   * What the venue owes by its newest commitment, and what attestors have seen in its vaults.
   * `checkReserves` checks it.
   *
   * @example
   * const { liabilities, vaults, difference } = await client.reserves();
   * console.log(liabilities?.sum, vaults.length, difference);
   */
  readonly reserves: Read<Reserves> = this.read(getReserves);

  /**
   * A sealed block.
   *
   * @example
   * const block = await client.block(1);
   * console.log(block.hash, block.ackCount, block.acksRoot);
   */
  block(number: number, options?: CallOptions): Promise<Block> {
    return this.call(getBlock, { params: { number: String(number) }, options });
  }

  /**
   * The key of the venue's transparency log, and how the venue has kept its receipts.
   *
   * @example
   * const { logKey, issued, notKept } = await client.honesty();
   * console.log(logKey, issued, notKept);
   */
  readonly honesty: Read<Honesty> = this.read(getHonesty);

  /**
   * The last sealed block.
   *
   * @example
   * const { number, time } = await client.latestBlock();
   * console.log(number, new Date(time));
   */
  readonly latestBlock: Read<Block> = this.read(getLatestBlock);

  /**
   * The venue's clock, Unix milliseconds.
   *
   * @example
   * const offsetMs = (await client.time()) - Date.now();
   * console.log(offsetMs);
   */
  async time(options?: CallOptions): Promise<number> {
    return (await this.call(getTime, { options })).time;
  }

  /**
   * Release, engine version, stage and the status of each market.
   *
   * @example
   * const { release, stage, markets } = await client.status();
   * console.log(release, stage, markets);
   */
  readonly status: Read<VenueStatus> = this.read(getStatus);

  /**
   * A nonce for a sign-in message; `signIn` requests its own.
   *
   * @example
   * const { nonce, expiresAt } = await client.nonce();
   * console.log(nonce, new Date(expiresAt));
   */
  readonly nonce: Read<Nonce> = this.read(getNonce);

  /**
   * Whether the gateway responds, and its version.
   *
   * @example
   * const { status, version } = await client.health();
   * console.log(status, version);
   */
  readonly health: Read<Health> = this.read(getHealth);

  /**
   * Whether the venue can trade; a `PerpgateError` with code `not_ready` says why not.
   *
   * @example
   * const { status } = await client.readiness({ retries: 0 });
   * console.log(status);
   */
  readonly readiness: Read<Readiness> = this.read(getReadiness);

  /**
   * The interface as an OpenAPI 3.1 document.
   *
   * @example
   * const { info } = await client.openapi();
   * console.log(info);
   */
  readonly openapi: Read<Record<string, unknown>> = this.read(getOpenApi);

  /**
   * The socket and its streams as an AsyncAPI 3 document.
   *
   * @example
   * const { channels } = await client.asyncapi();
   * console.log(channels);
   */
  readonly asyncapi: Read<Record<string, unknown>> = this.read(getAsyncApi);
}

function levelOf([price = 0, size = 0]: readonly number[]): PriceLevel {
  return [price, size];
}

/** What a session can read about its account. */
export class AccountReader extends Caller {
  /** The account, as an EIP-55 address. */
  readonly address: string;
  /** @internal */
  protected currentToken: string;

  protected constructor(http: HttpClient, { address, token }: SessionIdentity) {
    super(http);
    this.address = address;
    this.currentToken = token;
  }

  /** The bearer token of the session; keep it like a password. Renewal replaces it. */
  get token(): string {
    return this.currentToken;
  }

  /** @internal */
  protected override get identity(): SessionIdentity {
    const { address, token } = this;
    return { address, token };
  }

  /**
   * Balances, cohort and the caps of this session.
   *
   * @example
   * const { balance, available, equity } = await session.account();
   * console.log(balance, available, equity);
   */
  readonly account: Read<Account> = this.read(getAccount);

  /**
   * The account's live sessions, oldest first.
   *
   * @example
   * for (const { id, domain, expiresAt, current } of await session.sessions()) {
   *   console.log(id, domain, expiresAt, current);
   * }
   */
  readonly sessions: Read<SessionInfo[]> = this.read(getSessions);

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
  readonly orders: Read<Order[], OrdersOptions> = this.read(getOrders);

  /**
   * One own order.
   *
   * @example
   * const { status, filledSize } = await session.order("48213");
   * console.log(status, filledSize);
   */
  readonly order: NamedRead<Order> = this.read(getOrder);

  /**
   * Own positions, one per market.
   *
   * @example
   * for (const { symbol, size, unrealizedPnl, liquidationPrice } of await session.positions()) {
   *   console.log(symbol, size, unrealizedPnl, liquidationPrice);
   * }
   */
  readonly positions: Read<Position[]> = this.read(getPositions);

  /**
   * Own fills, newest first.
   *
   * @example
   * const page = await session.fills({ limit: 100 });
   * const last = page.at(-1);
   * if (last !== undefined) console.log(await session.fills({ before: last.id }));
   */
  readonly fills: Read<Fill[], FillsOptions> = this.read(getFills);

  /**
   * Every change of the balance, newest first; the amounts add up to it.
   *
   * @example
   * for (const { kind, amount, balance } of await session.ledger({ limit: 20 })) {
   *   console.log(kind, amount, balance);
   * }
   */
  readonly ledger: Read<LedgerEntry[], FillsOptions> = this.read(getLedger);

  /**
   * Funding received and, negative, paid, newest first.
   *
   * @example
   * const [last] = await session.fundingPayments({ symbol: "BTCUSD" });
   * console.log(last?.amount, last?.time);
   */
  readonly fundingPayments: Read<FundingPayment[], FillsOptions> = this.read(getFundingPayments);

  /**
   * Own deposits, newest first.
   *
   * @example
   * for (const { depositId, status, credits } of await session.deposits()) {
   *   console.log(depositId, status, credits);
   * }
   */
  readonly deposits: Read<Deposit[], PageOptions> = this.read(getDeposits);

  /**
   * One own deposit, with the votes of its attestors.
   *
   * @example
   * const { status, confirmations, required } = await session.depositById("48213");
   * console.log(status, `${confirmations}/${required}`);
   */
  readonly depositById: NamedRead<AttestedDeposit> = this.read(getDeposit);

  /**
   * Own withdrawals, newest first.
   *
   * @example
   * for (const { withdrawalId, amount, status } of await session.withdrawals()) {
   *   console.log(withdrawalId, amount, status);
   * }
   */
  readonly withdrawals: Read<Withdrawal[], PageOptions> = this.read(getWithdrawals);

  /**
   * One own withdrawal, with the signed votes of the attestors.
   *
   * @example
   * const { status, txHash, votes } = await session.withdrawalById("48213");
   * console.log(status, txHash, votes.length);
   */
  readonly withdrawalById: NamedRead<AttestedWithdrawal> = this.read(getWithdrawal);

  /**
   * What the venue's newest commitment says that it owes this account, with the path to its root.
   * `checkReserves` checks it.
   *
   * @example
   * const { balanceMicros, path } = await session.liability();
   * console.log(balanceMicros / 1e6, path.length);
   */
  readonly liability: Read<Liability> = this.read(getLiability);

  /**
   * An acknowledgement, `ack` or `canceled`, with the proof that its block contains it; `not_sealed` until it does.
   * `checkPreconfirm` checks it.
   *
   * @example
   * const { ack, canceled, block, index, leaf, path } = await session.preconfirm("48213");
   * console.log((ack ?? canceled)?.status, block, index, leaf, path.length);
   */
  readonly preconfirm: NamedRead<PreconfirmProof> = this.read(getPreconfirm);

  /**
   * The proof that an own acknowledgement is sealed, as one text file to keep: `checkOrderProof` checks it
   * without a network. `not_in_checkpoint` for about a second after the order.
   *
   * @example
   * const text = await session.preconfirmProof("48213");
   * const checked = await checkOrderProof(text);
   * console.log(typeof checked === "string" ? checked : `sealed in block ${checked.block.number}`);
   */
  readonly preconfirmProof: NamedRead<string> = this.read(getPreconfirmProof);
}
