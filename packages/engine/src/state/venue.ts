/**
 * The whole state of a venue. Tables hold the figures, with undo; maps hold what has a name
 * (addresses, sessions, deposits) and change only where nothing can fail any more. The rooms
 * around (matching, margin, funding, liquidation, …) are functions over this state.
 */
import type { VenueConfig } from "../config.js";
import { INDEX_STALE_MS } from "../config.js";
import { DepositBook } from "../deposits/deposit-book.js";
import { EventLog } from "../event-log.js";
import { SessionBook } from "../sessions/session-book.js";
import { ExpiryQueue } from "./expiry-queue.js";
import { MARKET, MARKET_WORDS, type Market } from "./market.js";
import { OrderStore } from "./orders.js";
import { POSITION, POSITION_WORDS } from "./positions.js";
import { Table, UndoLog } from "./table.js";

export const GLOBAL_WORDS = 12;
export const GLOBAL = {
  FUND: 0,
  FEES: 1,
  /** Fund seed + grants + credits. */
  DEPOSITS: 2,
  /** Σ over accounts and positions, kept by every move of money. */
  WALLETS: 3,
  MARGINS: 4,
  RESERVES: 5,
  COST: 6,
  NEXT_FUNDING: 7,
  BLOCK: 8,
  BLOCK_FIRST: 9,
  BLOCK_ACKS: 10,
  /** 1 once a command other than a tick was executed in the open block. */
  BLOCK_WORK: 11,
} as const;

export const ACCOUNT_WORDS = 3;
export const ACCOUNT = {
  WALLET: 0,
  /** When the dead-man's switch fires; 0: not armed. */
  CANCEL_AT: 1,
  SIGNED_IN: 2,
} as const;

export const COHORT_STAGES = ["closed", "allowlist", "open"] as const;

export class VenueState {
  readonly undo = new UndoLog();
  readonly events = new EventLog();
  readonly globals = new Table(GLOBAL_WORDS, this.undo, 1);
  readonly accounts = new Table(ACCOUNT_WORDS, this.undo);
  readonly figures = new Table(MARKET_WORDS, this.undo);
  readonly orders = new OrderStore(this.undo);
  readonly sessions = new SessionBook();
  readonly deposits = new DepositBook();
  /** Dead-man's switches; derived from the accounts. */
  readonly switches = new ExpiryQueue();
  readonly markets: Market[] = [];
  /** Address by account number; account 0 is the backstop and has none. */
  readonly addresses: string[] = [""];
  readonly accountOf = new Map<string, number>();
  readonly allowlist = new Set<string>();
  /** Last batch counter applied, by writer. */
  readonly writers = new Map<number, number>();
  config: VenueConfig | null = null;
  /** Index into COHORT_STAGES. */
  cohort = 0;
  /** Log index of the last command applied; the first has 1. */
  seq = 0;
  timeMs = 0;
  lastTickMs = 0;
  /** Pairs market, account: liquidations that did not fit into the last command. */
  carriedLiquidations: readonly number[] = [];
  /** Ids of stops that have triggered and did not fit into the last command. */
  carriedStops: readonly number[] = [];
  /** Ids of orders whose connection was lost and that did not fit into the last command. */
  carriedDisconnects: readonly number[] = [];
  /** The market being worked on: the one to halt if an invariant fails. */
  focus = 0;

  constructor() {
    this.globals.append();
    this.accounts.append();
  }

  global(field: number): number {
    return this.globals.data[field]!;
  }

  /** Adds to a total. Row 0 is touched when a command begins. */
  add(field: number, delta: number): void {
    this.globals.data[field] = this.globals.data[field]! + delta;
  }

  wallet(account: number): number {
    return this.accounts.data[account * ACCOUNT_WORDS]!;
  }

  addWallet(account: number, delta: number): void {
    this.accounts.touch(account);
    const at = account * ACCOUNT_WORDS;
    this.accounts.data[at] = this.accounts.data[at]! + delta;
    this.globals.data[GLOBAL.WALLETS] = this.globals.data[GLOBAL.WALLETS]! + delta;
  }

  addMargin(market: Market, row: number, delta: number): void {
    const at = row * POSITION_WORDS + POSITION.MARGIN;
    const data = market.positions.table.data;
    data[at] = data[at]! + delta;
    this.globals.data[GLOBAL.MARGINS] = this.globals.data[GLOBAL.MARGINS]! + delta;
  }

  /** A new account for the address, with nothing in it. */
  openAccount(address: string): number {
    const account = this.accounts.append();
    this.accounts.touch(account);
    this.addresses.push(address);
    this.accountOf.set(address, account);
    return account;
  }

  indexIsStale(market: Market): boolean {
    const at = market.get(MARKET.INDEX_AT);
    return market.get(MARKET.INDEX) === 0 || this.timeMs - at > INDEX_STALE_MS;
  }

  admits(account: number): boolean {
    if (this.cohort === 2) return true;
    return this.cohort === 1 && this.allowlist.has(this.addresses[account]!);
  }

  list(market: Market): void {
    this.markets.push(market);
  }
}
