/**
 * A venue of a shape, and the commands that are tried in it: orders that are undone and that fill, a batch,
 * amendments, cancels, and the ticks of a falling index. Each is reported with its work units and its time.
 */
import {
  type AmendOrder,
  type BatchPlace,
  type Command,
  FILL_OR_KILL,
  IMMEDIATE_OR_CANCEL,
  LIMIT_ORDER,
  LONG,
  type OrderExtras,
  type PlaceOrder,
  SHORT,
  type Side,
  STOP_ORDER,
  STOP_TRIGGER,
  TAKE_PROFIT_TRIGGER,
} from "../../commands.js";
import { MIN_EXPIRY_MS } from "../../config.js";
import { Engine } from "../../engine.js";
import type { RuleSet } from "../../versions.js";
import { addressOf, genesis, openSession, PLAIN_EXTRAS, plainOrder } from "../commands.js";
import { indexSlot } from "../index-slot.js";
import { BTC, MICROS, venueConfig } from "../scenarios/listing.js";
import { START_MS } from "../scenarios/venue.js";
import type { Shape } from "./shape.js";

/** Ticks of a tenth of a dollar: takers meet offers from here on. */
const PRICE = 500_000;
const FAR = 20_000;
const RICH = 1;
const TAKER = 2;
const WALL = 3;
const FIRST_MAKER = 4;
const TICKS = 5;

/** What one command took. */
export interface Trial {
  readonly name: string;
  readonly units: number;
  /** Of a tick: those of each market; the others end orders that are over, in turns. */
  readonly inMarkets: readonly number[];
  readonly ms: number;
  /** Whether nobody waits for it: a failed order, a refused command. */
  readonly isUndone: boolean;
}

export interface WorldLimits {
  readonly ruleSets: readonly RuleSet[];
  readonly maxOpenOrders: number;
  /** Milliseconds; of the thread's processor time where that is known. */
  readonly clock?: () => number;
}

export class World {
  private readonly engine: Engine;
  private readonly sessions: number[] = [0];
  private readonly listed: number;
  private readonly clock: () => number;
  private nonce = 0;
  private timeMs = START_MS;
  /** Orders go to this one. */
  private market = 0;

  constructor(
    private readonly shape: Shape,
    limits: WorldLimits,
  ) {
    this.engine = Engine.knowing(limits.ruleSets);
    this.listed = limits.maxOpenOrders;
    this.clock = limits.clock ?? (() => performance.now());
    const credit = { attestorKind: "dev", devCreditMicros: 10_000_000 * MICROS } as const;
    const markets = Array.from({ length: shape.markets }, (_, number) => {
      return { config: { ...BTC.config, symbol: `M${number}-PERP`, bandPpm: 900_000 } };
    });
    const { maxOpenOrders } = limits;
    this.send(genesis(START_MS, venueConfig(markets, { ...credit, maxOpenOrders })));
    for (let account = 1; account < FIRST_MAKER + shape.makers; account++) this.signIn(account);
    this.eachMarket(() => {
      this.index(PRICE);
      this.build();
    });
    for (let i = 0; i < shape.makers; i++) this.impoverish(FIRST_MAKER + i);
  }

  private eachMarket(visit: () => void): void {
    for (this.market = 0; this.market < this.shape.markets; this.market++) visit();
    this.market = 0;
  }

  private build(): void {
    const { makers, held, takerHeld } = this.shape;
    this.place(RICH, SHORT, PRICE, makers * held);
    for (let i = 0; i < makers; i++) this.buys(FIRST_MAKER + i, held);
    this.place(RICH, LONG, PRICE, takerHeld + 1);
    this.place(TAKER, SHORT, PRICE, takerHeld + 1);
    for (let i = 0; i < makers; i++) this.order(FIRST_MAKER + i);
    this.orderTaker();
    for (let i = 0; i < this.shape.wall; i++) this.place(WALL, LONG, PRICE - 2_000 - i, 1);
  }

  /** The orders of one maker, as many of each kind as it may still have. */
  private order(maker: number): void {
    const { shape } = this;
    const places = this.listed - 2 * Math.min(shape.pairs, shape.held);
    const guarded = Math.min(shape.guarded, Math.floor(places / 3));
    const offers = Math.min(shape.offers, places - 3 * guarded);
    let left = places - 3 * guarded - offers;
    const times = (wanted: number, place: (i: number) => void): void => {
      for (let i = 0; i < wanted && left > 0; i++, left--) place(i);
    };
    const { exitLots, levels } = shape;
    const far = (i: number) => PRICE + FAR + (i % levels);
    times(shape.closing, (i) =>
      this.place(maker, SHORT, PRICE + (i === 0 ? -FAR : FAR), 0, {
        type: STOP_ORDER,
        extras: {
          closePosition: true,
          trigger: i === 0 ? STOP_TRIGGER : TAKE_PROFIT_TRIGGER,
          timeInForce: IMMEDIATE_OR_CANCEL,
        },
      }),
    );
    times(shape.exits, (i) => this.place(maker, SHORT, far(i), exitLots));
    times(shape.reduceOnly, (i) =>
      this.place(maker, SHORT, far(i), exitLots, { reduceOnly: true }),
    );
    times(shape.stops, (i) =>
      this.place(maker, SHORT, PRICE - 1_000 - (i % levels), exitLots, {
        type: STOP_ORDER,
        reduceOnly: true,
        extras: { timeInForce: IMMEDIATE_OR_CANCEL },
      }),
    );
    times(shape.entries, (i) => this.place(maker, LONG, PRICE - FAR - (i % levels), exitLots));
    const exits = {
      takeProfitTicks: PRICE - FAR,
      takeProfitLimitTicks: 0,
      stopLossTicks: PRICE + 2 * FAR,
      stopLossLimitTicks: 0,
    };
    for (let i = 0; i < guarded; i++) {
      this.place(maker, SHORT, PRICE + 1 + (i % levels), shape.offered, { exits });
    }
    for (let i = 0; i < offers; i++) {
      const isExpiring = (i * 37) % 100 < shape.expired;
      const extras = isExpiring ? { expiresAtMs: this.timeMs + MIN_EXPIRY_MS } : {};
      this.place(maker, SHORT, PRICE + 1 + (i % levels), shape.offered, { extras });
    }
  }

  private orderTaker(): void {
    const { takerExits, takerOwn, levels } = this.shape;
    for (let i = 0; i < takerExits; i++) this.place(TAKER, LONG, PRICE - FAR - i, 1);
    for (let i = 0; i < takerOwn; i++) this.place(TAKER, SHORT, PRICE + 1 + (i % levels), 1);
  }

  /** Moves the money of a maker into its position, so that it cannot pay for all that is uncovered. */
  private impoverish(maker: number): void {
    const { exits, exitLots, funds, markets } = this.shape;
    const needed = markets * exits * exitLots * (PRICE + FAR);
    const { state } = this.engine;
    const spare = state.wallet(maker) - Math.floor((needed * funds) / 100);
    if (spare <= 0) return;
    const session = this.sessions[maker]!;
    const signed = { stampMs: this.timeMs, session, key: "key", nonce: ++this.nonce, market: 0 };
    this.send({ kind: "ChangeMargin", ...signed, amountMicros: spare });
  }

  /** Tries every command in turn; those that are undone or refused leave the venue as it was. */
  *trials(): Generator<Trial> {
    // Beyond the expiry of offers, without a tick that would end them.
    this.timeMs += MIN_EXPIRY_MS;
    yield* this.killed("undone");
    yield* this.killed("undone, again");
    yield this.try("batch", this.batch());
    const { offered, makers } = this.shape;
    const offers = this.shape.offers + this.shape.guarded;
    const most = PRICE + 1 + this.shape.levels;
    yield this.try("amendment", this.amendment());
    yield this.try("limit order", [this.takes(most, Math.max(1, offers * offered * makers))]);
    yield this.try("cancel-all", [this.cancelsAll(FIRST_MAKER)]);
    for (let tick = 0; tick < TICKS; tick++) {
      const fall = Math.floor((PRICE * this.shape.fall) / 1_000);
      this.timeMs += 200;
      this.eachMarket(() => this.index(PRICE - fall));
      const slot = this.engine.state.lastTickMs / 200 + 1;
      yield this.try(`tick ${tick}`, [{ kind: "Tick", slot }]);
    }
  }

  private *killed(name: string): Generator<Trial> {
    const { offered, makers, takerOwn, levels } = this.shape;
    const offers = this.shape.offers + this.shape.guarded;
    const lots = offers * offered * makers + takerOwn + 1;
    yield this.try(name, [this.takes(PRICE + 1 + levels, lots, FILL_OR_KILL)], true);
  }

  /** Operations of the taker: orders that are undone, amendments, cancels, small orders. */
  private batch(): Command[] {
    const { operations: count, mix, levels, offers, offered, makers } = this.shape;
    const nonce = ++this.nonce;
    const lots = offers * offered * makers + 1_000_000;
    return Array.from({ length: count }, (_, index): Command => {
      const batch: BatchPlace = { key: "key", nonce, index, count };
      const kind = mix === 5 ? index % 4 : mix;
      const price = PRICE + 1 + levels;
      if (kind === 0) return { ...this.takes(price, lots, FILL_OR_KILL), nonce, batch };
      if (kind === 1) return { ...this.takes(PRICE + 1, 1), nonce, batch };
      if (kind === 2) return { ...this.amends(TAKER, index, PRICE - FAR + index), nonce, batch };
      const session = this.sessions[TAKER]!;
      const orderId = this.openOf(TAKER)[index] ?? 1;
      return { kind: "CancelOrder", stampMs: this.timeMs, session, orderId, batch };
    });
  }

  /** Of a maker's first order, which covers the position before all others. */
  private amendment(): Command[] {
    return [this.amends(FIRST_MAKER, 0, PRICE + FAR - 1, 10_000_000)];
  }

  private amends(account: number, at: number, priceTicks: number, sizeLots = 0): AmendOrder {
    return {
      kind: "AmendOrder",
      stampMs: this.timeMs,
      session: this.sessions[account]!,
      key: "key",
      nonce: ++this.nonce,
      market: this.market,
      orderId: this.openOf(account)[at] ?? 1,
      clientOrderId: "",
      priceTicks,
      sizeLots,
      limitTicks: 0,
      expiresAtMs: -1,
      validUntilMs: 0,
    };
  }

  private cancelsAll(account: number): Command {
    const session = this.sessions[account]!;
    return { kind: "CancelAll", stampMs: this.timeMs, session, market: -1 };
  }

  /** Ids of the account's open orders in the market, ascending. */
  private openOf(account: number): number[] {
    const { orders } = this.engine.state;
    return orders
      .openRows()
      .filter((row) => orders.account(row) === account && orders.market(row) === this.market)
      .map((row) => orders.id(row));
  }

  private try(name: string, commands: readonly Command[], isUndone = false): Trial {
    let units = 0;
    const { work } = this.engine.state.scratch;
    const begin = this.clock();
    for (const command of commands) {
      this.engine.apply(command);
      units += work.spent + work.asideSpent;
    }
    const ms = this.clock() - begin;
    const inMarkets = this.engine.state.markets.map(({ number }) => work.spentIn(number));
    return { name, units, inMarkets, ms, isUndone };
  }

  private takes(priceTicks: number, sizeLots: number, timeInForce?: 1 | 2): PlaceOrder {
    const extras = timeInForce === undefined ? {} : { timeInForce };
    return this.orderOf(TAKER, LONG, priceTicks, sizeLots, { extras });
  }

  /** In orders of which some have exits attached. */
  private buys(account: number, lots: number): void {
    const { leverage } = this.shape;
    const pairs = Math.min(this.shape.pairs, lots);
    const exits = {
      takeProfitTicks: PRICE + FAR,
      takeProfitLimitTicks: 0,
      stopLossTicks: PRICE - FAR,
      stopLossLimitTicks: 0,
    };
    for (let i = 0; i < pairs; i++) {
      this.place(account, LONG, PRICE, 1, { leverage, exits });
    }
    if (lots > pairs) this.place(account, LONG, PRICE, lots - pairs, { leverage });
  }

  private place(
    account: number,
    side: Side,
    priceTicks: number,
    sizeLots: number,
    changes: OrderChanges = {},
  ): void {
    this.send(this.orderOf(account, side, priceTicks, sizeLots, changes));
  }

  private orderOf(
    account: number,
    side: Side,
    priceTicks: number,
    sizeLots: number,
    { extras, ...changes }: OrderChanges,
  ): PlaceOrder {
    return plainOrder({
      stampMs: this.timeMs,
      session: this.sessions[account]!,
      nonce: ++this.nonce,
      side,
      type: LIMIT_ORDER,
      marginMicros: 0,
      leverage: 1,
      priceTicks,
      market: this.market,
      ...changes,
      extras: { ...PLAIN_EXTRAS, sizeLots, ...extras },
    });
  }

  private signIn(account: number): void {
    this.sessions.push(this.engine.seq + 1);
    this.send(openSession({ stampMs: this.timeMs, address: addressOf(account) }));
  }

  private index(indexTicks: number): void {
    const { state } = this.engine;
    const { market } = this;
    const slot = indexSlot(state, market);
    this.send({ kind: "UpdateIndex", stampMs: this.timeMs, market, indexTicks, slot });
  }

  private send(command: Command): void {
    this.engine.apply(command);
  }
}

type OrderChanges = Partial<Omit<PlaceOrder, "extras">> & {
  readonly extras?: Partial<OrderExtras>;
};
