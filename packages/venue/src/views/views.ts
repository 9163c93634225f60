/**
 * The venue as its readers see it, in the types and units of the wire. Every answer comes from one
 * replica between two commands, so it is consistent in itself and shows only what is durable. An
 * unknown symbol, order or account is undefined; saying so to a client is the gateway's business.
 */
import type { CohortStage } from "@perpgate/engine";
import { COHORT_STAGES, GLOBAL, type Session } from "@perpgate/engine/reading";
import type {
  Account,
  Acknowledgement,
  AttestedDeposit,
  Block,
  Book,
  Candle,
  Chain,
  Deposit,
  Fill,
  FundingPoint,
  Market,
  Order,
  Position,
  PreconfirmProof,
  Resolution,
  Ticker,
  Trade,
} from "@perpgate/protocol";
import type { ChangeRow } from "../history/change-projection.js";
import type { PlacedRow } from "../history/history-reader.js";
import type { SessionKeyRow } from "../history/session-projection.js";
import type { Applied } from "../replica.js";
import { accountView } from "./account-view.js";
import { acknowledgementOfLeaf } from "./acknowledgement.js";
import { AttestationView } from "./attestation-view.js";
import { type BookLevels, bookLevels } from "./book-levels.js";
import { BookView } from "./book-view.js";
import { blockView, preconfirmView } from "./chain-view.js";
import { type AccountChange, changeView } from "./change-view.js";
import { depositsView, depositView, registeredDepositView } from "./deposit-view.js";
import { fromMicros } from "./figures.js";
import { marketsView, marketView, tickerView } from "./market-view.js";
import { allOrdersView, openOrdersView, ordersByNonceView, orderView } from "./order-view.js";
import { endedOrdersIn, type Outcome, outcomeOf } from "./outcome.js";
import { positionsView, positionView } from "./position-view.js";
import { type PublicEventSink, tellPublicEvents } from "./public-events.js";
import { candlesView, fillsView, fundingView, tradesView } from "./tape-view.js";
import { stateOf, type VenueSource, type ViewedMarket, viewedMarket } from "./venue-source.js";

/** What an order's repetition is answered from. */
export interface PastAcknowledgement {
  readonly seq: number;
  /** SHA-256 of the body that was signed: another digest is another order. */
  readonly digest: Buffer;
  readonly acknowledgement: Acknowledgement;
}

export class Views {
  private readonly bookView: BookView;
  /** Deposits as attestors see them. */
  readonly attestation: AttestationView;

  constructor(private readonly source: VenueSource) {
    this.bookView = new BookView(source);
    this.attestation = new AttestationView(source);
  }

  /** Keeps what is derived up to date; called for every command. */
  onCommand(applied: Applied): void {
    this.bookView.onCommand(applied);
    this.attestation.onCommand(applied);
  }

  /** The venue's own time, Unix milliseconds. */
  get timeMs(): number {
    return stateOf(this.source).timeMs;
  }

  outcome(applied: Applied): Outcome {
    return outcomeOf(applied, this.source.listing);
  }

  /** Ids of the account's orders that the command ended; to be called within the submitter. */
  endedOrders(applied: Applied, account: number): number[] {
    return endedOrdersIn(applied, account);
  }

  /** Who may open positions at present: everybody, those on the list, nobody. */
  get cohortStage(): CohortStage {
    return COHORT_STAGES[stateOf(this.source).cohort] ?? "closed";
  }

  /** What the fund holds; below zero where losses were shared. */
  get fundDollars(): number {
    return fromMicros(stateOf(this.source).global(GLOBAL.FUND));
  }

  markets(): Market[] {
    return marketsView(this.source);
  }

  market(symbol: string): Market | undefined {
    return this.within(symbol, (viewed) => marketView(this.source, viewed));
  }

  /** The number by which commands name the market. */
  marketNumber(symbol: string): number | undefined {
    return this.source.listing.named(symbol)?.number;
  }

  book(symbol: string, depth: number): Book | undefined {
    return this.within(symbol, (viewed) => this.bookView.book(viewed, depth));
  }

  /** The book without a copy. */
  levels(symbol: string): BookLevels | undefined {
    return this.within(symbol, (viewed) => bookLevels(this.source, viewed));
  }

  /** Position of the last command that may have changed the book; 0 if none since the start. */
  bookChangedAt(symbol: string): number {
    return this.within(symbol, ({ market }) => this.bookView.lastChange(market.number)) ?? 0;
  }

  ticker(symbol: string): Ticker | undefined {
    return this.within(symbol, (viewed) => tickerView(this.source, viewed));
  }

  trades(symbol: string, limit: number): Trade[] | undefined {
    return this.within(symbol, (viewed) => tradesView(this.source, viewed, limit));
  }

  candles(
    symbol: string,
    resolution: Resolution,
    limit: number,
    beforeMs?: number,
  ): Candle[] | undefined {
    return this.within(symbol, (viewed) =>
      candlesView(this.source, viewed, resolution, limit, beforeMs),
    );
  }

  funding(symbol: string, limit: number): FundingPoint[] | undefined {
    return this.within(symbol, (viewed) => fundingView(this.source, viewed, limit));
  }

  positions(account: number): Position[] {
    return positionsView(this.source, account);
  }

  position(account: number, symbol: string): Position | undefined {
    return this.within(symbol, (viewed) => positionView(this.source, viewed, account));
  }

  openOrders(account: number): Order[] {
    return openOrdersView(this.source, account);
  }

  /** The newest thousand, whatever their state. */
  orders(account: number): Order[] {
    return allOrdersView(this.source, account);
  }

  ordersByNonce(account: number, nonce: number): Order[] {
    return ordersByNonceView(this.source, account, nonce);
  }

  order(account: number, orderId: number): Order | undefined {
    return orderView(this.source, account, orderId);
  }

  fills(account: number, limit: number, before?: string): Fill[] {
    return fillsView(this.source, account, limit, before);
  }

  /** Whether the address's first sign-in, if it is one, brings it money from the `dev` attestor. */
  grantsAtSignIn(address: string): boolean {
    const { config, accountOf } = stateOf(this.source);
    const isGranted = config?.attestorKind === "dev" && config.devCreditMicros > 0;
    return isGranted && !accountOf.has(address);
  }

  account(session: Session): Account {
    return accountView(this.source, session);
  }

  /** The newest thousand. */
  deposits(account: number): Deposit[] {
    return depositsView(this.source, account);
  }

  deposit(account: number, depositId: number): AttestedDeposit | undefined {
    return depositView(this.source, account, depositId);
  }

  /** What the account finds under a hash (64 lower-case hex digits), whoever registered it. */
  registeredDeposit(account: number, chain: Chain, txHash: string): Deposit | undefined {
    return registeredDepositView(this.source, account, chain, txHash);
  }

  block(number: number): Block | undefined {
    return blockView(this.source, number);
  }

  preconfirm(account: number, seq: number): PreconfirmProof | "not_sealed" | undefined {
    return preconfirmView(this.source, account, seq);
  }

  /** The live session of a token, by the lower-case hex SHA-256 of the token. */
  session(tokenHash: string): Session | undefined {
    const state = stateOf(this.source);
    const session = state.sessions.withToken(tokenHash);
    return session !== undefined && state.timeMs < session.expiresAtMs ? session : undefined;
  }

  /** Whether the address (40 lower-case hex digits) has used the nonce of a sign-in message. */
  isSignInNonceUsed(address: string, nonce: string): boolean {
    return stateOf(this.source).sessions.isNonceUsed(address, nonce);
  }

  /** Whether the session, if it is there, wants its orders gone with its last connection. */
  cancelsOnDisconnect(session: number): boolean {
    return stateOf(this.source).sessions.byNumber.get(session)?.cancelOnDisconnect === true;
  }

  /** A session's public key and the message that signed it in. */
  sessionKey(session: number): SessionKeyRow | undefined {
    return this.source.history.sessionKey(session);
  }

  /** Micros free to trade with: an account without any is refused before the log. */
  walletMicros(account: number): number {
    return stateOf(this.source).wallet(account);
  }

  /** The acknowledgement of the order that used the nonce in that session, if one did. */
  ackOf(session: Session, nonce: number): PastAcknowledgement | undefined {
    const seq = session.nonces.orderOf(nonce);
    return seq === 0 ? undefined : this.acknowledgement(seq);
  }

  acknowledgement(seq: number): PastAcknowledgement | undefined {
    const ack = this.source.history.ack(seq);
    if (ack === undefined) return undefined;
    return {
      seq,
      digest: ack.digest,
      acknowledgement: acknowledgementOfLeaf(ack.leaf, this.source.listing),
    };
  }

  tellPublicEvents(applied: Applied, sink: PublicEventSink): void {
    tellPublicEvents(this.source, applied, sink);
  }

  /** What the last command changed, by account; to be read with `change`. */
  get lastChanges(): readonly ChangeRow[] {
    return this.source.history.lastChanges;
  }

  /** Rows of what changed for an account after a position, oldest first. */
  changesSince(account: number, seq: number, limit: number): PlacedRow[] {
    return this.source.history.changesSince(account, seq, limit);
  }

  change(seq: number, row: Float64Array): AccountChange {
    return changeView(this.source, seq, row);
  }

  private within<T>(symbol: string, view: (viewed: ViewedMarket) => T): T | undefined {
    const viewed = viewedMarket(this.source, symbol);
    return viewed === undefined ? undefined : view(viewed);
  }
}
