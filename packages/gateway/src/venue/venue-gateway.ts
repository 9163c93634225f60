/**
 * The operations that need a venue, in the types of the contract.
 *
 * Each method looks up the session of the token, counts against a limit, and calls the venue. A method
 * that changes state resolves once its command is durable. Reads come from the venue's views, which
 * show only what is durable. A method rejects with an `ApiError` for a code of the error table; any other
 * rejection is an internal error.
 */

import type {
  Account,
  Acknowledgement,
  AmendOrderBody,
  AttestedDeposit,
  BatchBody,
  Block,
  Book,
  BridgeInfo,
  CanceledOrder,
  CanceledOrders,
  CancelOrderBody,
  CancelTimer,
  Candle,
  CandlesQuery,
  Deposit,
  DepositBody,
  DepositQueue,
  DepositQueueBody,
  DepositsQuery,
  EndedSession,
  EndedSessions,
  ExtendedOrderBody,
  Fill,
  FillsQuery,
  FundingPayment,
  FundingPoint,
  FundingQuery,
  LedgerEntry,
  LedgerQuery,
  MarginBody,
  MarginChange,
  Order,
  OrdersQuery,
  Position,
  PreconfirmProof,
  RotateBody,
  RotatedSession,
  SessionInfo,
  SessionToken,
  SignInBody,
  Ticker,
  Trade,
  TradesQuery,
  VenueStatus,
  VenueTime,
  VotesAnswer,
  VotesBody,
} from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import type { Venue, Views } from "@perpgate/venue";
import type { SignInRules, SignInServices } from "../auth/sign-in.js";
import { poolVerifier } from "../auth/verification/pool-verifier.js";
import type { SignatureVerifier } from "../auth/verification/signature-verifier.js";
import { Admission } from "../limits/admission.js";
import type { LimitSettings } from "../limits/limit-settings.js";
import { AccountLimits, DepositLimits } from "../limits/limits.js";
import type { Caller, Client, SessionOptions, Signed } from "../request.js";
import type { Attestation } from "./attestation.js";
import { BatchFlow, type OperationResult } from "./batch-flow.js";
import { CancelFlow, ownOrder } from "./cancel-flow.js";
import { checksummed, DepositFlow } from "./deposit-flow.js";
import { MarginFlow } from "./margin-flow.js";
import { OrderFlow } from "./order-flow.js";
import { ordersFor } from "./orders-query.js";
import { SessionFlow } from "./session-flow.js";
import { SessionGuard } from "./session-guard.js";
import { SessionList } from "./session-list.js";
import { refuseOverlong, type SignedServices } from "./signed-request.js";
import { type LiveSession, VenueLink } from "./venue-link.js";

export interface VenueGatewayOptions {
  readonly venue: Venue;
  readonly limits: LimitSettings;
  readonly signIn: SignInRules;
  readonly services: SignInServices;
  /** Undefined under the `dev` attestor. */
  readonly attestation?: Attestation;
  /** Verifies signatures; by default libuv's thread pool does. */
  readonly signatures?: SignatureVerifier | undefined;
}

/** The public methods of `VenueGateway`; tests of the transport implement them with fixed values. */
export type VenueApi = Pick<VenueGateway, keyof VenueGateway>;

export class VenueGateway {
  private readonly link: VenueLink;
  private readonly guard: SessionGuard;
  private readonly limits: AccountLimits;
  private readonly signedBytes: number;
  private readonly sessions: SessionFlow;
  private readonly sessionsOf: SessionList;
  private readonly placing: OrderFlow;
  private readonly batching: BatchFlow;
  private readonly margins: MarginFlow;
  private readonly canceling: CancelFlow;
  private readonly depositing: DepositFlow;
  private readonly attestation: Attestation | undefined;
  private readonly depositLimits: DepositLimits;

  constructor(options: VenueGatewayOptions) {
    const { venue, limits, signIn, services, attestation, signatures = poolVerifier } = options;
    this.link = new VenueLink(venue);
    this.guard = new SessionGuard(this.link);
    this.limits = new AccountLimits(limits);
    this.signedBytes = limits.signedBytes;
    this.depositLimits = new DepositLimits(limits);
    this.sessions = new SessionFlow(
      this.link,
      this.guard,
      signIn,
      services,
      signatures,
      this.depositLimits,
    );
    this.sessionsOf = new SessionList(this.link, this.guard, signatures);
    const signed: SignedServices = {
      link: this.link,
      guard: this.guard,
      limits: this.limits,
      admission: new Admission(limits.pendingOrders, () => venue.isBehind),
      signatures,
      signedBytes: limits.signedBytes,
      batchBytes: limits.batchBytes,
    };
    this.placing = new OrderFlow(signed);
    this.batching = new BatchFlow(signed);
    this.margins = new MarginFlow(signed);
    this.canceling = new CancelFlow(this.link);
    this.attestation = attestation;
    this.depositing = new DepositFlow(this.link, attestation, limits.unseenDeposits);
  }

  /** The account number of a live session; throws `invalid_token`. A hash and two look-ups. */
  accountOf(caller: Caller): number {
    return this.guard.sessionOf(caller).account;
  }

  signIn(client: Client, request: SignInBody): Promise<SessionToken> {
    return this.sessions.signIn(client, request);
  }

  async rotateSession(caller: Caller, request: Signed<RotateBody>): Promise<RotatedSession> {
    const session = this.countedSession(caller);
    refuseOverlong(request.bytes, this.signedBytes);
    return this.sessions.rotate(caller, session, request);
  }

  async endSession(caller: Caller): Promise<EndedSession> {
    return this.sessions.end(this.guard.sessionOf(caller));
  }

  async sessionList(caller: Caller): Promise<SessionInfo[]> {
    return this.sessionsOf.list(this.readingSession(caller));
  }

  async endSessionById(
    caller: Caller,
    id: string,
    signature: string | undefined,
  ): Promise<EndedSession> {
    return this.sessionsOf.end(this.countedSession(caller), id, signature);
  }

  async endOtherSessions(caller: Caller, signature: string | undefined): Promise<EndedSessions> {
    return this.sessionsOf.endOthers(this.countedSession(caller), signature);
  }

  async setSessionOptions(caller: Caller, options: SessionOptions): Promise<void> {
    return this.sessions.setOptions(this.countedSession(caller), options);
  }

  async account(caller: Caller): Promise<Account> {
    const account = this.views.account(this.readingSession(caller));
    return { ...account, address: checksummed(account.address) };
  }

  placeOrder(caller: Caller, request: Signed<ExtendedOrderBody>): Promise<Acknowledgement> {
    return this.placing.place(caller, request);
  }

  amendOrder(
    caller: Caller,
    id: string,
    request: Signed<AmendOrderBody>,
  ): Promise<Acknowledgement> {
    return this.placing.amend(caller, id, request);
  }

  placeBatch(caller: Caller, request: Signed<BatchBody>): Promise<readonly OperationResult[]> {
    return this.batching.run(caller, request);
  }

  changeMargin(caller: Caller, symbol: string, request: Signed<MarginBody>): Promise<MarginChange> {
    return this.margins.change(caller, symbol, request);
  }

  async cancelOrder(caller: Caller, body: CancelOrderBody): Promise<CanceledOrder> {
    return this.canceling.cancel(this.countedSession(caller), body);
  }

  async cancelAllOrders(caller: Caller, symbol: string | undefined): Promise<CanceledOrders> {
    return this.canceling.cancelAll(this.countedSession(caller), symbol);
  }

  async cancelOrdersAfter(caller: Caller, afterMs: number): Promise<CancelTimer> {
    return this.canceling.cancelAfter(this.countedSession(caller), afterMs);
  }

  async orders(caller: Caller, query: OrdersQuery): Promise<Order[]> {
    const { account } = this.readingSession(caller);
    this.requireListed(query.symbol);
    return ordersFor(this.views, account, query);
  }

  async order(caller: Caller, orderId: string): Promise<Order> {
    return ownOrder(this.link, this.readingSession(caller).account, orderId);
  }

  async positions(caller: Caller): Promise<Position[]> {
    return this.views.positions(this.readingSession(caller).account);
  }

  async fills(caller: Caller, query: FillsQuery): Promise<Fill[]> {
    const { account } = this.readingSession(caller);
    this.requireListed(query.symbol);
    return this.views.fills(account, query);
  }

  async ledger(caller: Caller, query: LedgerQuery): Promise<LedgerEntry[]> {
    const { account } = this.readingSession(caller);
    this.requireListed(query.symbol);
    return this.views.ledger(account, query);
  }

  async fundingPayments(caller: Caller, query: LedgerQuery): Promise<FundingPayment[]> {
    const { account } = this.readingSession(caller);
    this.requireListed(query.symbol);
    return this.views.fundingPayments(account, query);
  }

  async preconfirm(caller: Caller, ackNonce: string): Promise<PreconfirmProof> {
    const { account } = this.readingSession(caller);
    const proof = this.views.preconfirm(account, Number(ackNonce));
    if (proof === undefined) throw new ApiError("preconfirm_not_found", { ackNonce });
    if (proof === "not_sealed") throw new ApiError("not_sealed", { ackNonce });
    return proof;
  }

  async book(symbol: string, depth: number): Promise<Book> {
    return listed(symbol, this.views.book(symbol, depth));
  }

  async ticker(symbol: string): Promise<Ticker> {
    return listed(symbol, this.views.ticker(symbol));
  }

  async tickers(): Promise<Ticker[]> {
    return this.views.tickers();
  }

  async trades(symbol: string, query: TradesQuery): Promise<Trade[]> {
    return listed(symbol, this.views.trades(symbol, query));
  }

  async candles(symbol: string, query: CandlesQuery): Promise<Candle[]> {
    return listed(symbol, this.views.candles(symbol, query.resolution, query));
  }

  async funding(symbol: string, query: FundingQuery): Promise<FundingPoint[]> {
    return listed(symbol, this.views.funding(symbol, query));
  }

  async block(number: number): Promise<Block> {
    const block = this.views.block(number);
    if (block === undefined) throw new ApiError("block_not_found", { number });
    return block;
  }

  async latestBlock(): Promise<Block> {
    const number = this.views.lastBlock ?? 0;
    return this.block(number);
  }

  async time(): Promise<VenueTime> {
    return { time: this.views.timeMs };
  }

  async status(): Promise<Omit<VenueStatus, "release">> {
    return this.views.status();
  }

  async registerDeposit(caller: Caller, client: Client, request: DepositBody): Promise<Deposit> {
    const session = this.guard.sessionOf(caller);
    this.limits.deposits.take(session.account, caller.header);
    this.depositLimits.takeRegistration(client.address, caller.header);
    return this.depositing.register(session, request);
  }

  async deposits(caller: Caller, query: DepositsQuery): Promise<Deposit[]> {
    return this.depositing.list(this.readingSession(caller), query);
  }

  async deposit(caller: Caller, depositId: string): Promise<AttestedDeposit> {
    return this.depositing.read(this.readingSession(caller), depositId);
  }

  async bridge(): Promise<BridgeInfo> {
    return this.attestation?.info() ?? DEV_BRIDGE;
  }

  async submitVotes({ votes }: VotesBody): Promise<VotesAnswer> {
    return { refusals: [...(await this.attestors().accept(votes))] };
  }

  async depositQueue(request: Signed<DepositQueueBody>): Promise<DepositQueue> {
    return this.attestors().queue(request);
  }

  /** A filter by an unknown symbol is a mistake, not an empty list. */
  private requireListed(symbol: string | undefined): void {
    if (symbol === undefined || this.views.marketNumber(symbol) !== undefined) return;
    throw new ApiError("unknown_symbol", { symbol }, { field: "symbol" });
  }

  private attestors(): Attestation {
    if (this.attestation === undefined) throw new ApiError("attestors_not_configured", {});
    return this.attestation;
  }

  private get views(): Views {
    return this.link.views;
  }

  /** The live session, counted against the read limit. */
  private readingSession(caller: Caller): LiveSession {
    const session = this.guard.sessionOf(caller);
    this.limits.reads.take(session.account, caller.header);
    return session;
  }

  /** The live session, counted against the limit of cancels and other commands that are not orders. */
  private countedSession(caller: Caller): LiveSession {
    const session = this.guard.sessionOf(caller);
    this.limits.cancels.take(session.account, caller.header);
    return session;
  }
}

const DEV_BRIDGE: BridgeInfo = {
  attestor: "dev",
  venue: null,
  venueId: null,
  members: [],
  quorum: 0,
  keys: [],
  paused: [],
  chains: [],
};

function listed<T>(symbol: string, view: T | undefined): T {
  if (view === undefined) throw new ApiError("market_not_found", { symbol });
  return view;
}
