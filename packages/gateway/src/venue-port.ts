/**
 * The port to the venue: everything the gateway asks of whatever executes orders.
 *
 * The gateway decodes, validates and limits; what passes goes through this interface, and what
 * comes back is written out by the schema of the operation. A method resolves once its effect is
 * durable, and rejects with a `ApiError` for an answer of the error table; any other rejection is
 * an internal error. The gateway never imports an engine: tests and processes attach a venue.
 */

import type {
  Account,
  Acknowledgement,
  AttestedDeposit,
  Block,
  Book,
  BridgeInfo,
  CanceledOrder,
  CanceledOrders,
  CancelTimer,
  Candle,
  CandlesQuery,
  Deposit,
  DepositBody,
  DepositQueue,
  DepositQueueBody,
  EndedSession,
  Fill,
  FillsQuery,
  FundingPoint,
  Order,
  OrdersQuery,
  PlaceOrderBody,
  Position,
  PreconfirmProof,
  RotateBody,
  RotatedSession,
  SessionToken,
  SignInBody,
  Ticker,
  Trade,
  VotesAnswer,
  VotesBody,
} from "@perpgate/protocol";

/** Adds a header to the answer, be it a success or a refusal. */
export type HeaderSink = (name: string, value: string) => void;

/** Where a request comes from, and the way back. */
export interface Client {
  /** As the network tells it, or a proxy that is trusted to. */
  readonly address: string;
  /** Whether some proxy says that it passed the request on. */
  readonly isForwarded: boolean;
  readonly header: HeaderSink;
}

/** Whoever sent the token. That it belongs to a session is for the venue's state to say. */
export interface Caller {
  readonly bearerToken: string;
  readonly header: HeaderSink;
}

/** A body together with the bytes it arrived as: the signature covers the bytes. */
export interface Signed<Body> {
  readonly body: Body;
  readonly bytes: Uint8Array;
  /** The `X-Service-Sig` header as sent; undefined where it is missing. */
  readonly signature: string | undefined;
}

/** What a session may decide about itself. */
export interface SessionOptions {
  /** Whether its open orders go with its last socket. */
  readonly cancelOnDisconnect: boolean;
}

export interface VenuePort {
  /** The account number of a live session, or refuses with `invalid_token`. Cheap. */
  accountOf(caller: Caller): number;
  signIn(client: Client, request: SignInBody): Promise<SessionToken>;
  rotateSession(caller: Caller, request: Signed<RotateBody>): Promise<RotatedSession>;
  endSession(caller: Caller): Promise<EndedSession>;
  setSessionOptions(caller: Caller, options: SessionOptions): Promise<void>;
  account(caller: Caller): Promise<Account>;

  placeOrder(caller: Caller, request: Signed<PlaceOrderBody>): Promise<Acknowledgement>;
  cancelOrder(caller: Caller, orderId: string): Promise<CanceledOrder>;
  cancelAllOrders(caller: Caller, symbol: string | undefined): Promise<CanceledOrders>;
  cancelOrdersAfter(caller: Caller, afterMs: number): Promise<CancelTimer>;
  orders(caller: Caller, query: OrdersQuery): Promise<Order[]>;
  order(caller: Caller, orderId: string): Promise<Order>;
  positions(caller: Caller): Promise<Position[]>;
  fills(caller: Caller, query: FillsQuery): Promise<Fill[]>;
  preconfirm(caller: Caller, ackNonce: string): Promise<PreconfirmProof>;

  book(symbol: string, depth: number): Promise<Book>;
  ticker(symbol: string): Promise<Ticker>;
  trades(symbol: string, limit: number): Promise<Trade[]>;
  candles(symbol: string, query: CandlesQuery): Promise<Candle[]>;
  funding(symbol: string, limit: number): Promise<FundingPoint[]>;
  block(number: number): Promise<Block>;

  registerDeposit(caller: Caller, client: Client, request: DepositBody): Promise<Deposit>;
  deposits(caller: Caller): Promise<Deposit[]>;
  deposit(caller: Caller, depositId: string): Promise<AttestedDeposit>;

  bridge(): Promise<BridgeInfo>;
  submitVotes(request: VotesBody): Promise<VotesAnswer>;
  depositQueue(request: Signed<DepositQueueBody>): Promise<DepositQueue>;
}
