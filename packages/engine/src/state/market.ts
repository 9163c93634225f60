/** One listed market: its parameters, its figures, its book, its positions. */

import { mulExact } from "@perpgate/protocol/integers";
import { MaintenanceSchedule } from "@perpgate/protocol/maintenance";
import { LONG, SHORT, type Side, STOP_TRIGGER, TAKE_PROFIT_TRIGGER } from "../commands.js";
import { type MarketConfig, STEEP_LEVERAGE } from "../config.js";
import { IndexGuard } from "./index-guard.js";
import { Ladder } from "./ladder.js";
import type { OrderStore } from "./orders.js";
import { PositionStore } from "./positions.js";
import { FIXED_SEED, type HashSeed } from "./seeded-hash.js";
import { StopBook } from "./stop-book.js";
import { StopLines, stopSet } from "./stop-lines.js";
import type { Table, UndoLog } from "./table.js";

/** The words of a market's row, in the order of the snapshot format; literals, see orders.ts. */
export const MARKET_WORDS = 26;
/** With those that are derived from the positions, and not part of a snapshot. */
export const FIGURE_WORDS = 28;
export const SUM_LOTS = 10;

/** What a market's status word means, by index. */
export const MARKET_STATUSES = ["active", "reduceOnly", "halted", "settling", "settled"] as const;
export const MARKET_ACTIVE = 0;
export const MARKET_REDUCE_ONLY = 1;
export const MARKET_HALTED = 2;
export const MARKET_SETTLING = 3;
export const MARKET_SETTLED = 4;

export class Market {
  readonly bids: Ladder;
  readonly asks: Ladder;
  /** Pending stops by trigger and side, see `stops`. */
  readonly stopBooks: readonly StopBook[];
  /** Pending stops from version 3 on, apart from triggered ones; their books are empty then. */
  readonly stopLines: StopLines;
  readonly positions: PositionStore;
  readonly guard: IndexGuard;
  /** Where this market's row begins in `figures.data`. */
  readonly base: number;
  config: MarketConfig;
  maintenance: MaintenanceSchedule;
  readonly microsPerTickLot: number;

  constructor(
    readonly number: number,
    config: MarketConfig,
    readonly figures: Table,
    orders: OrderStore,
    undo: UndoLog,
    seed: HashSeed = FIXED_SEED,
  ) {
    this.base = number * 28;
    this.config = config;
    this.maintenance = new MaintenanceSchedule(config.tiers);
    this.microsPerTickLot = config.microsPerTickLot;
    this.bids = new Ladder(1, orders);
    this.asks = new Ladder(-1, orders);
    this.stopBooks = [
      new StopBook(LONG, STOP_TRIGGER, orders),
      new StopBook(SHORT, STOP_TRIGGER, orders),
      new StopBook(LONG, TAKE_PROFIT_TRIGGER, orders),
      new StopBook(SHORT, TAKE_PROFIT_TRIGGER, orders),
    ];
    this.stopLines = new StopLines(orders, seed);
    this.positions = new PositionStore(undo, number);
    this.guard = new IndexGuard(undo);
  }

  configure(config: MarketConfig): void {
    this.config = config;
    this.maintenance = new MaintenanceSchedule(config.tiers);
  }

  /** 0 until the first index update. */
  get index(): number {
    return this.get(0);
  }
  set index(ticks: number) {
    this.set(0, ticks);
  }
  /** When the index was observed: the beginning of its slot. */
  get indexAtMs(): number {
    return this.get(1);
  }
  set indexAtMs(timeMs: number) {
    this.set(1, timeMs);
  }
  get mark(): number {
    return this.get(2);
  }
  set mark(ticks: number) {
    this.set(2, ticks);
  }
  get markAtMs(): number {
    return this.get(3);
  }
  set markAtMs(timeMs: number) {
    this.set(3, timeMs);
  }
  /** EMA(mid − index) in 1/65536 tick. */
  get ema(): number {
    return this.get(4);
  }
  set ema(subticks: number) {
    this.set(4, subticks);
  }
  /** Price of the last trade; 0 before the first. */
  get last(): number {
    return this.get(5);
  }
  set last(ticks: number) {
    this.set(5, ticks);
  }
  /** Premium samples of the current funding hour. */
  get premiumSum(): number {
    return this.get(6);
  }
  set premiumSum(billionths: number) {
    this.set(6, billionths);
  }
  get premiumCount(): number {
    return this.get(7);
  }
  set premiumCount(count: number) {
    this.set(7, count);
  }
  /** Live ticks of that hour, those without a sample included; 0 under version 2, which counts samples. */
  get premiumTicks(): number {
    return this.get(18);
  }
  set premiumTicks(count: number) {
    this.set(18, count);
  }
  get backstopLots(): number {
    return this.get(8);
  }
  set backstopLots(lots: number) {
    this.set(8, lots);
  }
  get backstopCost(): number {
    return this.get(9);
  }
  set backstopCost(micros: number) {
    this.set(9, micros);
  }
  /** Σ lots of all positions, the backstop's included: always 0. */
  get sumLots(): number {
    return this.get(10);
  }
  set sumLots(lots: number) {
    this.set(10, lots);
  }
  /** Index into MARKET_STATUSES. */
  get status(): number {
    return this.get(11);
  }
  set status(status: number) {
    this.set(11, status);
  }
  /** Whether nothing happens in it but cancels: halted, settling or settled. */
  get halted(): boolean {
    return this.get(11) >= 2;
  }
  /** Whether positions may be opened in it. */
  get mayOpen(): boolean {
    return this.get(11) === 0;
  }
  /** Lots held long by accounts: the open interest less the backstop's. */
  get longLots(): number {
    return this.get(12);
  }
  set longLots(lots: number) {
    this.set(12, lots);
  }
  /** Lots of all longs, the backstop's included. */
  get openInterestLots(): number {
    return this.longLots + Math.max(0, this.backstopLots);
  }

  /** Σ mark × rate of all hours, in micros per lot: the whole part, and billionths from 0. */
  get cumulativeFunding(): number {
    return this.get(13);
  }
  get cumulativeFundingBillionths(): number {
    return this.get(14);
  }
  setCumulativeFunding(microsPerLot: number, billionths: number): void {
    this.set(13, microsPerLot);
    this.set(14, billionths);
  }

  /** Price of the settlement that has begun, in ticks; 0: none has. */
  get settlementTicks(): number {
    return this.get(15);
  }
  set settlementTicks(ticks: number) {
    this.set(15, ticks);
  }
  /** The account that a control of the market looks at next; 0: none is in progress. */
  get sweepAccount(): number {
    return this.get(16);
  }
  set sweepAccount(account: number) {
    this.set(16, account);
  }
  /** What that control does, an index into the phases of markets/sweep.ts. */
  get sweepPhase(): number {
    return this.get(20);
  }
  set sweepPhase(phase: number) {
    this.set(20, phase);
  }
  /** Σ lots of the positions settled so far: what the others still hold against them. */
  get clearingLots(): number {
    return this.get(21);
  }
  set clearingLots(lots: number) {
    this.set(21, lots);
  }
  /** What the settlement lacks (negative) or has left over; 0 outside of one. */
  get settlementPool(): number {
    return this.get(22);
  }
  set settlementPool(micros: number) {
    this.set(22, micros);
  }
  /** Σ gains of the winners at the settlement price, and what of it they are paid. */
  get settlementGains(): number {
    return this.get(23);
  }
  set settlementGains(micros: number) {
    this.set(23, micros);
  }
  get settlementPayout(): number {
    return this.get(24);
  }
  set settlementPayout(micros: number) {
    this.set(24, micros);
  }

  /** Time of the last start, jump or resume, until an index of its slot or later is accepted; then 0. */
  get awaitedIndexMs(): number {
    return this.get(17);
  }
  set awaitedIndexMs(timeMs: number) {
    this.set(17, timeMs);
  }
  /** The mark at which a tick last left no liquidation but small ones waiting; 0 before the first. */
  get settledMark(): number {
    return this.get(19);
  }
  set settledMark(ticks: number) {
    this.set(19, ticks);
  }
  /** Slot of the last index, accepted or held back. */
  get indexSlot(): number {
    return this.get(25);
  }
  set indexSlot(slot: number) {
    this.set(25, slot);
  }

  /** Lots of the accounts' longs, and of their shorts, that are steep (`steepLots`); derived. */
  get steepLongLots(): number {
    return this.get(26);
  }
  get steepShortLots(): number {
    return this.get(27);
  }

  get(word: number): number {
    return this.figures.data[this.base + word]!;
  }

  set(word: number, value: number): void {
    this.figures.touch(this.number);
    this.figures.data[this.base + word] = value;
  }

  /** Value of one lot at the mark, in micros. */
  get markUnit(): number {
    return this.mark * this.microsPerTickLot;
  }

  /** |lots| at the mark, in micros. */
  notional(lots: number): number {
    return mulExact(Math.abs(lots), this.markUnit);
  }

  /** The position's lots if its cost is above ten times its margin, else 0. */
  steepLots(row: number): number {
    const { positions } = this;
    return Math.abs(positions.cost(row)) > STEEP_LEVERAGE * positions.margin(row)
      ? positions.lots(row)
      : 0;
  }

  /** Counts the steep lots of a position that had `before`; after any change of lots, cost, margin. */
  countSteep(row: number, before: number): void {
    const after = this.steepLots(row);
    if (after === before) return;
    const longs = Math.max(0, after) - Math.max(0, before);
    if (longs !== 0) this.set(26, this.get(26) + longs);
    const shorts = Math.max(0, -after) - Math.max(0, -before);
    if (shorts !== 0) this.set(27, this.get(27) + shorts);
  }

  /** Counts them of all positions, after a restore or a rollback: there is nothing to undo. */
  recountSteep(): void {
    let longs = 0;
    let shorts = 0;
    for (let row = 0; row < this.positions.table.rows; row++) {
      const steep = this.steepLots(row);
      longs += Math.max(0, steep);
      shorts += Math.max(0, -steep);
    }
    this.figures.data[this.base + 26] = longs;
    this.figures.data[this.base + 27] = shorts;
  }

  /** Changes a position's lots, and the market's sums with them. The row is touched already. */
  moveLots(row: number, delta: number): void {
    const before = this.positions.lots(row);
    const steep = this.steepLots(row);
    this.positions.addLots(row, delta);
    this.countSteep(row, steep);
    this.sumLots += delta;
    const longs = Math.max(0, before + delta) - Math.max(0, before);
    if (longs !== 0) this.longLots += longs;
  }

  /** The book's side of that name: where its orders rest. */
  ladder(side: Side): Ladder {
    return side === LONG ? this.bids : this.asks;
  }

  /** What an order of that side takes from. */
  opposite(side: Side): Ladder {
    return this.ladder(side === LONG ? SHORT : LONG);
  }

  /** Stops trigger when the mark rises to a long or falls to a short; take-profits the other way. */
  stops(side: Side, trigger: number): StopBook {
    return this.stopBooks[stopSet(side, trigger)]!;
  }
}
