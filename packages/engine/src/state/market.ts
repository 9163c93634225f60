/** One listed market: its parameters, its figures, its book, its positions. */
import { mulExact } from "@perpgate/protocol/integers";
import { LONG, SHORT, type Side } from "../commands.js";
import type { MarketConfig } from "../config.js";
import { Ladder } from "./ladder.js";
import { MaintenanceSchedule } from "./maintenance.js";
import type { OrderStore } from "./orders.js";
import { PositionStore } from "./positions.js";
import type { Table, UndoLog } from "./table.js";

/** The words of a market's row. Their order is part of the snapshot format. */
export const MARKET_WORDS = 13;
export const MARKET = {
  INDEX: 0,
  INDEX_AT: 1,
  MARK: 2,
  MARK_AT: 3,
  EMA: 4,
  LAST: 5,
  PREMIUM_SUM: 6,
  PREMIUM_COUNT: 7,
  BACKSTOP_LOTS: 8,
  BACKSTOP_COST: 9,
  SUM_LOTS: 10,
  HALTED: 11,
  LONG_LOTS: 12,
} as const;

export class Market {
  readonly bids: Ladder;
  readonly asks: Ladder;
  /** Pending stops: longs trigger when the mark rises to them, shorts when it falls to them. */
  readonly longStops: Ladder;
  readonly shortStops: Ladder;
  readonly positions: PositionStore;
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
  ) {
    this.base = number * MARKET_WORDS;
    this.config = config;
    this.maintenance = new MaintenanceSchedule(config.tiers);
    this.microsPerTickLot = config.microsPerTickLot;
    this.bids = new Ladder(1, orders);
    this.asks = new Ladder(-1, orders);
    this.longStops = new Ladder(-1, orders);
    this.shortStops = new Ladder(1, orders);
    this.positions = new PositionStore(undo, number);
  }

  configure(config: MarketConfig): void {
    this.config = config;
    this.maintenance = new MaintenanceSchedule(config.tiers);
  }

  /** 0 until the first index update. */
  get index(): number {
    return this.get(MARKET.INDEX);
  }
  set index(ticks: number) {
    this.set(MARKET.INDEX, ticks);
  }
  get indexAtMs(): number {
    return this.get(MARKET.INDEX_AT);
  }
  set indexAtMs(timeMs: number) {
    this.set(MARKET.INDEX_AT, timeMs);
  }
  get mark(): number {
    return this.get(MARKET.MARK);
  }
  set mark(ticks: number) {
    this.set(MARKET.MARK, ticks);
  }
  get markAtMs(): number {
    return this.get(MARKET.MARK_AT);
  }
  set markAtMs(timeMs: number) {
    this.set(MARKET.MARK_AT, timeMs);
  }
  /** EMA(mid − index) in 1/65536 tick. */
  get ema(): number {
    return this.get(MARKET.EMA);
  }
  set ema(subticks: number) {
    this.set(MARKET.EMA, subticks);
  }
  /** Price of the last trade; 0 before the first. */
  get last(): number {
    return this.get(MARKET.LAST);
  }
  set last(ticks: number) {
    this.set(MARKET.LAST, ticks);
  }
  /** Premium samples of the current funding hour. */
  get premiumSum(): number {
    return this.get(MARKET.PREMIUM_SUM);
  }
  set premiumSum(billionths: number) {
    this.set(MARKET.PREMIUM_SUM, billionths);
  }
  get premiumCount(): number {
    return this.get(MARKET.PREMIUM_COUNT);
  }
  set premiumCount(count: number) {
    this.set(MARKET.PREMIUM_COUNT, count);
  }
  get backstopLots(): number {
    return this.get(MARKET.BACKSTOP_LOTS);
  }
  set backstopLots(lots: number) {
    this.set(MARKET.BACKSTOP_LOTS, lots);
  }
  get backstopCost(): number {
    return this.get(MARKET.BACKSTOP_COST);
  }
  set backstopCost(micros: number) {
    this.set(MARKET.BACKSTOP_COST, micros);
  }
  /** Σ lots of all positions, the backstop's included: always 0. */
  get sumLots(): number {
    return this.get(MARKET.SUM_LOTS);
  }
  set sumLots(lots: number) {
    this.set(MARKET.SUM_LOTS, lots);
  }
  get halted(): boolean {
    return this.get(MARKET.HALTED) !== 0;
  }
  set halted(isHalted: boolean) {
    this.set(MARKET.HALTED, isHalted ? 1 : 0);
  }
  /** Lots held long by accounts: the open interest less the backstop's. */
  get longLots(): number {
    return this.get(MARKET.LONG_LOTS);
  }
  set longLots(lots: number) {
    this.set(MARKET.LONG_LOTS, lots);
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

  /** Changes a position's lots, and the market's sums with them. The row is touched already. */
  moveLots(row: number, delta: number): void {
    const before = this.positions.lots(row);
    this.positions.addLots(row, delta);
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

  stops(side: Side): Ladder {
    return side === LONG ? this.longStops : this.shortStops;
  }
}
