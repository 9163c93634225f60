/**
 * The whole state of a venue, without the working memory of a command (venue.ts). Tables hold the figures, with undo; maps hold what has a name
 * (addresses, sessions, deposits) and change only where nothing can fail any more. The rules
 * (orders, money, sessions, deposits) are functions over this state.
 */
import { INDEX_STALE_MS, PPM, type VenueConfig } from "../config.js";
import { EventLog } from "../events/event-log.js";
import { RULE_SETS, type RuleSet } from "../versions.js";
import { BatchProgress } from "./batch-progress.js";
import { DepositBook } from "./deposits.js";
import { EndQueue } from "./end-queue.js";
import { ExitPairs } from "./exit-pairs.js";
import { NONE } from "./id-index.js";
import { KeptRequests } from "./kept-requests.js";
import { FIGURE_WORDS, type Market } from "./market.js";
import { OrderStore } from "./orders.js";
import { Reaches } from "./reaches.js";
import { FIXED_SEED, type HashSeed } from "./seeded-hash.js";
import { SessionBook } from "./sessions.js";
import { Table, UndoLog } from "./table.js";
import { TextCells } from "./text-cells.js";
import { TextIndex } from "./text-index.js";
import { Timers } from "./timers.js";
import { Totals } from "./totals.js";
import { WithdrawalBook } from "./withdrawals.js";
import { WriterBook } from "./writers.js";

/** The words of a row, in the order of the snapshot format; literals, see orders.ts. */
export const ACCOUNT_WORDS = 3;

/** Samples of the fund's result: an hour of minutes, both ends included. */
export const FUND_SAMPLES = 61;

export const COHORT_STAGES = ["closed", "allowlist", "open"] as const;

export class VenueTables {
  readonly undo = new UndoLog();
  readonly events = new EventLog();
  readonly totals = new Totals(this.undo);
  readonly accounts = new Table(ACCOUNT_WORDS, this.undo);
  /** One row per market. */
  readonly figures = new Table(FIGURE_WORDS, this.undo);
  /** What the fund had gained, by minute (money/fund-budget.ts): a ring of minute and micros. */
  readonly fundSamples = new Table(2, this.undo, FUND_SAMPLES);
  readonly orders: OrderStore;
  /** The exits that are attached to orders; derived. */
  readonly exits: ExitPairs;
  readonly batch = new BatchProgress(this.undo);
  readonly sessions: SessionBook;
  readonly deposits: DepositBook;
  readonly withdrawals = new WithdrawalBook();
  /** From version 3 on. */
  readonly requests = new KeptRequests();
  /** Accounts with orders that are over; from version 3 on. */
  readonly ends: EndQueue;
  /** Dead-man's switches by account; derived. */
  readonly switches: Timers;
  readonly markets: Market[] = [];
  readonly addresses: Addresses;
  readonly allowlist = new Set<string>();
  readonly writers: WriterBook;
  /** When the last operator commands were executed, the oldest first. */
  readonly operatorTimes: number[] = [];
  config: VenueConfig | null = null;
  /** The rules of the version in force; Genesis and Upgrade set them. */
  rules: RuleSet;
  /** Index into COHORT_STAGES. */
  cohort = 0;
  /** Log index of the last command applied; the first has 1. */
  seq = 0;
  timeMs = 0;
  lastTickMs = 0;
  readonly reaches = new Reaches();
  /**
   * Sessions that were lost together and whose orders are still to be canceled, as they were lost, then
   * by account and number: account, session and seq of the loss, each. Replaced, never written to.
   */
  carriedDisconnects: Float64Array = new Float64Array();
  /**
   * By market, the accounts whose liquidation has reached the limit of a turn: they wait behind the others,
   * each with the time since when and the later turns that it has had. From version 3 on; replaced, never
   * written to.
   */
  behind: readonly (readonly number[])[] = [];
  /**
   * By market and side, the id of the triggered stop that a tick looked at last in order to try it again.
   * From version 3 on; replaced, never written to.
   */
  lookedAgain: readonly number[] = [];
  /** The market being worked on: the one to halt if an invariant fails. */
  focus = 0;

  /**
   * `ruleSets`: the versions that this release knows; tests add to them. `seed`: of the tables by what
   * clients choose; random where strangers send commands.
   */
  constructor(
    readonly ruleSets: readonly RuleSet[] = RULE_SETS,
    readonly seed: HashSeed = FIXED_SEED,
  ) {
    this.orders = new OrderStore(this.undo, seed);
    this.ends = new EndQueue(this.orders.extras.expiries);
    this.exits = new ExitPairs(this.orders, seed);
    this.sessions = new SessionBook(seed);
    this.deposits = new DepositBook(seed);
    this.switches = new Timers(seed);
    this.addresses = new Addresses(seed);
    this.writers = new WriterBook(this.sessions.presence);
    this.rules = ruleSets[0]!;
    this.accounts.append();
    for (let row = 0; row < FUND_SAMPLES; row++) this.fundSamples.append();
  }

  wallet(account: number): number {
    return this.accounts.data[account * 3 + 0]!;
  }

  addWallet(account: number, delta: number): void {
    this.accounts.touch(account);
    const at = account * 3 + 0;
    this.accounts.data[at] = this.accounts.data[at]! + delta;
    this.totals.wallets += delta;
  }

  /** When the account's dead-man's switch fires; 0: not armed. */
  cancelAtMs(account: number): number {
    return this.accounts.data[account * 3 + 1]!;
  }

  setCancelAtMs(account: number, timeMs: number): void {
    this.accounts.touch(account);
    this.accounts.data[account * 3 + 1] = timeMs;
  }

  /** Whether the account has had the grant of its first sign-in, if there was one. */
  hasGrant(account: number): boolean {
    return this.accounts.data[account * 3 + 2]! % 2 === 1;
  }

  markGranted(account: number): void {
    this.accounts.touch(account);
    this.accounts.data[account * 3 + 2]! += 1;
  }

  /** Seq of the command that fired its switch, while older orders are still to be ended; else 0. */
  firedAt(account: number): number {
    // Next to the grant, so that the accounts of older states keep their bytes.
    const word = this.accounts.data[account * 3 + 2]!;
    return word < 2 ? 0 : Math.floor(word / 2);
  }

  setFiredAt(account: number, seq: number): void {
    this.accounts.touch(account);
    this.accounts.data[account * 3 + 2] = 2 * seq + (this.hasGrant(account) ? 1 : 0);
  }

  /** Changes a position's margin. The row is touched already. */
  addMargin(market: Market, row: number, delta: number): void {
    const steep = market.steepLots(row);
    market.positions.addMargin(row, delta);
    market.countSteep(row, steep);
    market.positions.changed?.push(row);
    this.totals.margins += delta;
  }

  /** Changes a position's cost. The row is touched already. */
  addCost(market: Market, row: number, delta: number): void {
    const steep = market.steepLots(row);
    market.positions.addCost(row, delta);
    market.countSteep(row, steep);
    market.positions.changed?.push(row);
    this.totals.cost += delta;
  }

  /** A new, empty account for the address. */
  openAccount(address: string): number {
    const account = this.accounts.append();
    this.accounts.touch(account);
    this.addresses.push(address);
    return account;
  }

  indexIsStale(market: Market): boolean {
    return market.index === 0 || this.timeMs - market.indexAtMs > INDEX_STALE_MS;
  }

  /**
   * Whether the market takes part in liquidations, stops and funding: running, its index fresh, none
   * held back, and accepted since the last start, time jump or resume.
   */
  isLive(market: Market): boolean {
    return (
      !market.halted &&
      !this.indexIsStale(market) &&
      !market.guard.isHolding &&
      market.awaitedIndexMs === 0
    );
  }

  /**
   * Whether orders may trade in the market: not while its mark is further than the lowest maintenance
   * from where a tick last served every liquidation. Up to there no position can have become bankrupt.
   */
  isSettled(market: Market): boolean {
    const { settledMark: settled } = market;
    if (!this.rules.settlesJumps || settled === 0) return true;
    return Math.abs(market.mark - settled) * PPM <= settled * market.maintenance.lowestPpm;
  }

  /** Whether the account may open positions at the present stage of the cohort. */
  admits(account: number): boolean {
    if (this.cohort === 2) return true;
    return this.cohort === 1 && this.allowlist.has(this.addresses.at(account)!);
  }
}

/** Accounts by address and addresses by account, without a `Map` (sessions.ts says why). */
class Addresses {
  /** Account 0 is the backstop and has no address. */
  length = 1;
  private readonly texts = new TextCells(40);
  private readonly byText: TextIndex;

  constructor(seed: HashSeed = FIXED_SEED) {
    this.byText = new TextIndex(this.texts, seed);
    this.texts.set(0, "");
  }

  at(account: number): string | undefined {
    return account < this.length ? this.texts.get(account) : undefined;
  }

  /** The account of the address, or undefined. */
  get(address: string): number | undefined {
    const account = this.byText.get(address);
    return account === NONE ? undefined : account;
  }

  has(address: string): boolean {
    return this.byText.get(address) !== NONE;
  }

  /** Adds the address of the next account. */
  push(address: string): void {
    const account = this.length++;
    this.texts.set(account, address);
    this.byText.add(address, account);
  }

  /** All addresses, by account. */
  all(): string[] {
    return Array.from({ length: this.length }, (_, account) => this.texts.get(account));
  }
}
