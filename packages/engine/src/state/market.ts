/** One listed market: its parameters, its figures, its book, its positions. */
import { Ladder } from "../book/ladder.js";
import { LONG, type Side } from "../commands.js";
import type { MarketConfig } from "../config.js";
import { MaintenanceSchedule } from "../margin/maintenance.js";
import type { OrderStore } from "./orders.js";
import { PositionStore } from "./positions.js";
import type { Table, UndoLog } from "./table.js";

export const MARKET_WORDS = 13;
export const MARKET = {
  INDEX: 0,
  INDEX_AT: 1,
  MARK: 2,
  MARK_AT: 3,
  /** EMA(mid − index) in 1/65536 tick. */
  EMA: 4,
  LAST: 5,
  PREMIUM_SUM: 6,
  PREMIUM_COUNT: 7,
  BACKSTOP_LOTS: 8,
  BACKSTOP_COST: 9,
  /** Σ lots of all positions, the backstop's included: always 0. */
  SUM_LOTS: 10,
  HALTED: 11,
  /** Lots held long by accounts: the open interest less the backstop's. */
  LONG_LOTS: 12,
} as const;

export class Market {
  readonly bids: Ladder;
  readonly asks: Ladder;
  /** Pending stops: longs wait for the mark to rise to them, shorts for it to fall. */
  readonly longStops: Ladder;
  readonly shortStops: Ladder;
  readonly positions: PositionStore;
  /** Where this market's row begins in `figures.data`. */
  readonly base: number;
  config: MarketConfig;
  maintenance: MaintenanceSchedule;
  microsPerTickLot: number;

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

  get(field: number): number {
    return this.figures.data[this.base + field]!;
  }

  set(field: number, value: number): void {
    this.figures.touch(this.number);
    this.figures.data[this.base + field] = value;
  }

  get mark(): number {
    return this.figures.data[this.base + MARKET.MARK]!;
  }

  get halted(): boolean {
    return this.figures.data[this.base + MARKET.HALTED] !== 0;
  }

  /** Where orders of that side rest. */
  ladder(side: Side): Ladder {
    return side === LONG ? this.bids : this.asks;
  }

  stops(side: Side): Ladder {
    return side === LONG ? this.longStops : this.shortStops;
  }
}
