/**
 * The reads of a venue, in wire types and units. Every result comes from one replica between two
 * commands, so it is consistent and shows only durable commands. An unknown symbol, order or account
 * gives undefined.
 */

import { type CohortStage, EventLog, type UnsignedTerms } from "@perpgate/engine";
import {
  COHORT_STAGES,
  exposure,
  fundBudget,
  fundLossUsed,
  type OpenStatus,
  type RequestedWithdrawal,
  requestFault,
  type Session,
  type WithdrawalFault,
} from "@perpgate/engine/reading";
import type {
  Account,
  AttestedDeposit,
  AttestedWithdrawal,
  Block,
  Book,
  BridgeInfo,
  CanceledOrder,
  Candle,
  CandlePrice,
  Chain,
  Deposit,
  Fill,
  FundingPayment,
  FundingPoint,
  LedgerEntry,
  LoggedAcknowledgement,
  Market,
  Order,
  Position,
  Resolution,
  Ticker,
  Trade,
  VenueStatus,
  Withdrawal,
} from "@perpgate/protocol";
import { fromMicros } from "@perpgate/protocol/core";
import { ArchivedRows, type ArchiveQuery } from "../archive/archived-rows.js";
import type { ChangeRow } from "../history/change-projection.js";
import type { FilteredRows } from "../history/filtered-rows.js";
import type { PlacedRow } from "../history/row-pages.js";
import type { RowWords } from "../history/rows.js";
import type { SessionKeyRow } from "../history/session-projection.js";
import type { Applied, KeptApplied } from "../replica.js";
import { HistoryDamaged } from "../venue-errors.js";
import { accountView, moneyOf, moneyView, sessionsView } from "./account-view.js";
import {
  acknowledgementIn,
  canceledIn,
  leafTextIn,
  loggedAcknowledgement,
} from "./acknowledgement.js";
import { ArchivedViews } from "./archived-views.js";
import { AttestationView } from "./attestation-view.js";
import { type BookLevels, BookView, bookLevels } from "./book-view.js";
import { blockView, preconfirmView } from "./chain-view.js";
import { type AccountChange, type AccountMoney, changeView } from "./change-view.js";
import { depositsView, depositView, registeredDepositView } from "./deposit-view.js";
import { fundingPaymentsView, ledgerView } from "./ledger-view.js";
import { marketsView, marketView, tickerView } from "./market-view.js";
import {
  allOrdersView,
  type OrderNames,
  openOrderNamed,
  openOrdersView,
  ordersNamedView,
  orderView,
} from "./order-view.js";
import {
  type CommandOutcome,
  commandOutcome,
  endedOrdersIn,
  isCopy,
  workUnitsIn,
} from "./outcome.js";
import {
  type PastBatch,
  type PastMarginChange,
  pastBatch,
  pastMarginChange,
} from "./past-results.js";
import { hasPosition, positionsView, positionView } from "./position-view.js";
import { emitPublicEvents, type PublicEventSink } from "./public-events.js";
import { edgeInPage, type RowsQuery, type TimesQuery } from "./row-query.js";
import { candlesView, fillOf, fillsView, fundingView, tradesView } from "./tape-view.js";
import { stateOf, type VenueSource, type ViewedMarket, viewedMarket } from "./venue-source.js";
import {
  openWithdrawalsView,
  requestedWithdrawalView,
  withdrawalRulesView,
  withdrawalsView,
  withdrawalView,
} from "./withdrawal-view.js";

/** More than one command can make for one account. */
const MAX_FILLS = 100_000;

/** The response to a repeated order. */
export interface PastAcknowledgement {
  readonly seq: number;
  /** SHA-256 of the body that was signed: another digest is another order. */
  readonly digest: Buffer;
  readonly acknowledgement: LoggedAcknowledgement;
}

export class Views {
  private readonly bookView: BookView;
  /** Deposits as attestors see them. */
  readonly attestation: AttestationView;

  constructor(private readonly source: VenueSource) {
    this.bookView = new BookView(source);
    this.attestation = new AttestationView(source);
  }

  /** Runs reads of the past: `History.read`. */
  read<T>(work: () => T): Promise<T> {
    return this.source.history.read(work);
  }

  /** The same for `work` that counts what it reads. */
  readCounted<T>(
    onRead: (rows: number) => void,
    work: (onRead: (rows: number) => void) => T,
  ): Promise<T> {
    return this.source.history.readCounted(onRead, work);
  }

  /** Updates the indexes and caches; called for every command. */
  onCommand(applied: Applied): void {
    this.bookView.onCommand(applied);
    this.attestation.onCommand(applied);
  }

  /** The venue's own time, Unix milliseconds. */
  get timeMs(): number {
    return stateOf(this.source).timeMs;
  }

  /** Whether the rules in force know copies of unsigned requests. */
  get keepsRequests(): boolean {
    return stateOf(this.source).rules.keepsRequests;
  }

  /** What became of an unsigned request that is in the log, for its answer; undefined for others. */
  keptRequest(terms: UnsignedTerms | undefined): KeptApplied | undefined {
    if (terms === undefined) return undefined;
    const { requests, timeMs } = stateOf(this.source);
    const kept = requests.get(terms.id, timeMs);
    if (kept === undefined) return undefined;
    return { seq: kept.position, timeMs: kept.timeMs, events: EventLog.of(kept.words) };
  }

  /** The command itself, or the first one if it is a copy. Must be called within the submitter. */
  originalOf(applied: KeptApplied, terms: UnsignedTerms | undefined): KeptApplied {
    return isCopy(applied) ? (this.keptRequest(terms) ?? applied) : applied;
  }

  /** Whether the past is being rebuilt: reads of it throw `history_rebuilding`. */
  get isRebuilding(): boolean {
    return this.source.history.isRebuilding;
  }

  /** The version of the engine's rules in force. */
  get engineVersion(): number {
    return stateOf(this.source).rules.version;
  }

  outcome(applied: KeptApplied): CommandOutcome {
    return commandOutcome(applied, this.source.listing);
  }

  /** What a cancel of one order has ended. Must be called within the submitter. */
  canceled(applied: KeptApplied): CanceledOrder {
    return canceledIn(applied, this.source.listing);
  }

  /** Ids of the account's orders that the command ended. Must be called within the submitter. */
  endedOrders(applied: KeptApplied, account: number): number[] {
    return endedOrdersIn(applied, account);
  }

  /** Must be called within the submitter. */
  workUnits(applied: KeptApplied): number {
    return workUnitsIn(applied);
  }

  /** Who may open positions: everybody, the allowlist, or nobody. */
  get cohortStage(): CohortStage {
    return COHORT_STAGES[stateOf(this.source).cohort] ?? "closed";
  }

  /** The fund's balance; below zero if losses were shared. */
  get fundDollars(): number {
    return fromMicros(stateOf(this.source).totals.fund);
  }

  /** What the fund may lose in an hour at its present worth, and what it has lost in the last. */
  get fundBudget(): { readonly budgetDollars: number; readonly lostDollars: number } {
    const state = stateOf(this.source);
    return {
      budgetDollars: fromMicros(fundBudget(state)),
      lostDollars: fromMicros(fundLossUsed(state)),
    };
  }

  markets(): Market[] {
    return marketsView(this.source);
  }

  market(symbol: string): Market | undefined {
    return this.within(symbol, (viewed) => marketView(this.source, viewed));
  }

  /** The market's number in commands. */
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

  /** Seq of the last command that may have changed the book; 0 if none since the start. */
  bookChangedAt(symbol: string): number {
    return this.within(symbol, ({ market }) => this.bookView.lastChange(market.number)) ?? 0;
  }

  ticker(symbol: string): Ticker | undefined {
    return this.within(symbol, (viewed) => tickerView(this.source, viewed));
  }

  /** All markets, in listing order. */
  tickers(): Ticker[] {
    return stateOf(this.source).markets.flatMap(
      (market) => this.ticker(market.config.symbol) ?? [],
    );
  }

  trades(symbol: string, query: RowsQuery): Trade[] | undefined {
    return this.within(symbol, (viewed) => tradesView(this.source, viewed, query));
  }

  candles(
    symbol: string,
    resolution: Resolution,
    query: TimesQuery,
    price: CandlePrice = "trades",
  ): Candle[] | undefined {
    return this.within(symbol, (viewed) =>
      candlesView(this.source, viewed, resolution, query, price),
    );
  }

  funding(symbol: string, query: TimesQuery): FundingPoint[] | undefined {
    return this.within(symbol, (viewed) => fundingView(this.source, viewed, query));
  }

  positions(account: number): Position[] {
    return positionsView(this.source, account);
  }

  position(account: number, symbol: string): Position | undefined {
    return this.within(symbol, (viewed) => positionView(this.source, viewed, account));
  }

  hasPosition(account: number): boolean {
    return hasPosition(this.source, account);
  }

  /** What a session's `maxNotional` caps: positions at mark, and what open orders may add. */
  exposureMicros(account: number): number {
    return exposure(stateOf(this.source), account);
  }

  /** Oldest first. */
  openOrders(account: number, symbol?: string): Order[] {
    return openOrdersView(this.source, account, symbol);
  }

  /** In any state; the newest thousand unless the query says otherwise. */
  orders(account: number, query: RowsQuery = {}): Order[] {
    return allOrdersView(this.source, account, query);
  }

  /** Those with a nonce, a client's id, or both. */
  ordersNamed(account: number, names: OrderNames, query: RowsQuery = {}): FilteredRows<Order> {
    return ordersNamedView(this.source, account, names, query);
  }

  order(account: number, orderId: number): Order | undefined {
    return orderView(this.source, account, orderId);
  }

  fills(account: number, query: RowsQuery): Fill[] {
    return fillsView(this.source, account, query);
  }

  /** The account's fills in one command, in order. */
  fillsAt(account: number, seq: number): Fill[] {
    const query = { after: String(seq - 1), before: String(seq + 1), limit: MAX_FILLS };
    return fillsView(this.source, account, query);
  }

  /** The account's fills in the command that was applied last, in order. */
  lastFills(account: number): Fill[] {
    return this.source.history.lastFillsOf(account).map((placed) => fillOf(this.source, placed));
  }

  /** The acknowledgement that the command made, if it did. Must be called within the submitter. */
  acknowledgementIn(applied: Applied): LoggedAcknowledgement | undefined {
    return acknowledgementIn(applied, this.source.listing);
  }

  /** What the account owns now. */
  money(account: number): AccountMoney {
    return moneyView(moneyOf(stateOf(this.source), account));
  }

  /** The newest first. */
  withdrawals(account: number, query: RowsQuery = {}): Withdrawal[] {
    return withdrawalsView(this.source, account, query);
  }

  /** One that is neither paid nor expired, its account's address in hex, and what is paused now. */
  openWithdrawal(id: number) {
    const { withdrawals, addresses, deposits } = stateOf(this.source);
    const withdrawal = withdrawals.byId.get(id);
    if (withdrawal === undefined) return undefined;
    const address = addresses.at(withdrawal.account) ?? "";
    return { withdrawal, address, paused: [...deposits.paused] };
  }

  /** Dollars of withdrawals that are not paid yet, with their fees. */
  get owedWithdrawals(): number {
    return fromMicros(stateOf(this.source).withdrawals.owed);
  }

  /** When the oldest open withdrawal of a chain in this status was asked for; undefined if there is none. */
  oldestWithdrawalMs(chain: Chain, status: OpenStatus): number | undefined {
    const open = stateOf(this.source).withdrawals.sorted();
    return open.find((each) => each.chain === chain && each.status === status)?.requestedAtMs;
  }

  /** A page of a chain's open withdrawals. */
  openWithdrawals(chain: Chain, after: number) {
    return openWithdrawalsView(this.source, chain, after);
  }

  /** Null: the venue takes none. */
  get withdrawalRules(): BridgeInfo["withdrawals"] {
    return withdrawalRulesView(stateOf(this.source));
  }

  /** Why the account cannot have this paid now, as the engine would refuse it. */
  withdrawalFault(account: number, terms: RequestedWithdrawal): WithdrawalFault | undefined {
    return requestFault(stateOf(this.source), account, terms);
  }

  /** With the SHA-256 of the body that asked for it. */
  requestedWithdrawal(account: number, id: number) {
    return requestedWithdrawalView(this.source, account, id);
  }

  withdrawal(account: number, id: number): AttestedWithdrawal | undefined {
    return withdrawalView(this.source, account, id);
  }

  /** Every change of the account's balance. */
  ledger(
    account: number,
    query: RowsQuery,
    onRead: (rows: number) => void = () => undefined,
  ): LedgerEntry[] {
    return ledgerView(this.source, account, query, onRead);
  }

  fundingPayments(account: number, query: RowsQuery): FundingPayment[] {
    return fundingPaymentsView(this.source, account, query);
  }

  /** Whether a sign-in would be the address's first and get money from the `dev` attestor. */
  grantsAtSignIn(address: string): boolean {
    const { config, addresses } = stateOf(this.source);
    const isGranted = config?.attestorKind === "dev" && config.devCreditMicros > 0;
    return isGranted && !addresses.has(address);
  }

  account(session: Session): Account {
    return accountView(this.source, session);
  }

  /** The newest thousand unless the query says otherwise; those that were forgotten are left out. */
  deposits(account: number, query?: RowsQuery): FilteredRows<Deposit> {
    return depositsView(this.source, account, query);
  }

  deposit(account: number, depositId: number): AttestedDeposit | undefined {
    return depositView(this.source, account, depositId);
  }

  /** The deposit with a hash (64 lower-case hex digits), whichever account registered it. */
  registeredDeposit(account: number, chain: Chain, txHash: string): Deposit | undefined {
    return registeredDepositView(this.source, account, chain, txHash);
  }

  block(number: number): Block | undefined {
    return blockView(this.source, number);
  }

  /** Number of the last sealed block; null before the first. */
  get lastBlock(): number | null {
    return stateOf(this.source).totals.block - 1 || null;
  }

  status(): Omit<VenueStatus, "release"> {
    const state = stateOf(this.source);
    return {
      engineVersion: this.engineVersion,
      time: state.timeMs,
      stage: this.cohortStage,
      markets: this.markets().map(({ symbol, status }) => ({ symbol, status })),
      block: this.lastBlock,
      position: String(state.seq),
    };
  }

  /** Where the history's window begins; undefined: all rows are kept. */
  get historyBefore(): VenueStatus["historyBefore"] {
    const { keptFrom, keptFromMs } = this.source.history.edge;
    return keptFrom === 1 ? undefined : { position: String(keptFrom), time: keptFromMs };
  }

  /** What an archive has of the past. */
  archived(query: ArchiveQuery): ArchivedViews {
    const { source } = this;
    const venueId = () => source.listing.venueId;
    return new ArchivedViews(source, new ArchivedRows(query, source.history, venueId));
  }

  /** The position where it begins, if rows before it belong to a page, which has so many rows; otherwise 0. */
  edgeInPage(query: RowsQuery, rows: number): number {
    return edgeInPage(this.source, query, rows);
  }

  /** Without the place of its block in the transparency log. */
  preconfirm(
    account: number,
    seq: number,
    onRead: (rows: number) => void = () => undefined,
  ): ReturnType<typeof preconfirmView> {
    return preconfirmView(this.source, account, seq, onRead);
  }

  /** The live session with that number. */
  session(number: number): Session | undefined {
    const { sessions, timeMs } = stateOf(this.source);
    const session = sessions.get(number);
    return session !== undefined && timeMs < session.expiresAtMs ? session : undefined;
  }

  /** The account's live sessions, oldest first, each with its sign-in message. */
  sessions(account: number) {
    return sessionsView(this.source, account);
  }

  /** Whether the address (40 lower-case hex digits) has used the nonce of a sign-in message. */
  isSignInNonceUsed(address: string, nonce: string): boolean {
    const { sessions, timeMs } = stateOf(this.source);
    return sessions.usedNonces.isUsed(address, nonce, timeMs);
  }

  /** Whether the session exists and cancels its orders when its last connection closes. */
  cancelsOnDisconnect(session: number): boolean {
    return stateOf(this.source).sessions.get(session)?.cancelOnDisconnect === true;
  }

  /** A session's public key and its sign-in message. */
  sessionKey(session: number): SessionKeyRow | undefined {
    return this.source.history.sessionKey(session);
  }

  /** Id of the account's open order with that client order id. */
  openOrderNamed(account: number, clientOrderId: string): number | undefined {
    return openOrderNamed(this.source, account, clientOrderId);
  }

  /** Micros free to trade with. */
  walletMicros(account: number): number {
    return stateOf(this.source).wallet(account);
  }

  /** The command that the session executed with that nonce, or 0. */
  seqOfNonce(session: Session, nonce: number): number {
    return stateOf(this.source).sessions.orderOf(session.number, nonce);
  }

  acknowledgement(seq: number): PastAcknowledgement | undefined {
    const ack = this.source.history.ack(seq);
    if (ack === undefined) return undefined;
    return {
      seq,
      digest: ack.digest,
      acknowledgement: loggedAcknowledgement(ack, this.source.listing),
    };
  }

  /** The leaf of a command's acknowledgement, in base64url. Must be called within the submitter. */
  leafIn({ events }: KeptApplied): string {
    return leafTextIn(events);
  }

  /** The leaf of the acknowledgement at a seq, which must have one. */
  leafAt(seq: number): string {
    const ack = this.source.history.answer(seq);
    if (ack === undefined) throw new HistoryDamaged(`the acknowledgement at ${seq} is missing`);
    return ack.leaf.toString("base64url");
  }

  /** What became of the signed batch that used the session's nonce; undefined if no batch did. */
  batchOf(session: Session, nonce: number): PastBatch | undefined {
    return pastBatch(this.source, session.account, this.seqOfNonce(session, nonce));
  }

  /** The change of margin that used the session's nonce; undefined if none did. */
  marginChangeOf(session: Session, nonce: number): PastMarginChange | undefined {
    return pastMarginChange(this.source, this.seqOfNonce(session, nonce), nonce);
  }

  emitPublicEvents(applied: Applied, sink: PublicEventSink): void {
    emitPublicEvents(this.source, applied, sink);
  }

  /** What the last command changed, by account; decode with `change`. */
  get lastChanges(): readonly ChangeRow[] {
    return this.source.history.lastChanges;
  }

  /** The first command whose changes `changesSince` knows. */
  get changesFrom(): number {
    return this.source.history.changesFrom;
  }

  /** What changed for an account after `seq`, oldest first. */
  changesSince(account: number, seq: number, limit: number): PlacedRow[] {
    return this.source.history.changesSince(account, seq, limit);
  }

  change(row: RowWords): AccountChange | undefined {
    return changeView(this.source, row);
  }

  /** Addresses that may open positions at the stage `allowlist`, ascending, without `0x`. */
  get allowlist(): readonly string[] {
    return [...stateOf(this.source).allowlist].sort();
  }

  private within<T>(symbol: string, view: (viewed: ViewedMarket) => T): T | undefined {
    const viewed = viewedMarket(this.source, symbol);
    return viewed === undefined ? undefined : view(viewed);
  }
}
