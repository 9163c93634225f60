/** Commands that end many more orders than they meet or liquidate. */
import { expect, test } from "vitest";
import { audit } from "../../audit.js";
import {
  type Command,
  FILL_OR_KILL,
  IMMEDIATE_OR_CANCEL,
  LIMIT_ORDER,
  LONG,
  type PlaceOrder,
  SHORT,
  STOP_ORDER,
  STOP_TRIGGER,
  TAKE_PROFIT_TRIGGER,
  type TimeInForceCode,
} from "../../commands.js";
import { Engine } from "../../engine.js";
import type { EventKind, VenueEvent } from "../../events/event-table.js";
import { END } from "../../reasons.js";
import { addressOf, genesis, openSession, PLAIN_EXTRAS, plainOrder } from "../commands.js";
import { comparedEngine } from "../compared.js";
import { describeDerived } from "../derived.js";
import { indexSlot } from "../index-slot.js";
import { BTC, MICROS, venueConfig } from "../scenarios/listing.js";
import { START_MS } from "../scenarios/venue.js";

const PRICE = 500_000;
/** 1.2 % lower: a position at 50× is due. */
const FALLEN = 494_000;
/** Fifty dollars at `PRICE`. */
const LOTS = 100;

/** A venue whose backstop takes nothing, compared with the reference in every command. */
class Scene {
  readonly engine: Engine;
  private readonly apply: (command: Command) => VenueEvent[];

  constructor() {
    const { engine, apply } = comparedEngine();
    this.engine = engine;
    this.apply = apply;
    const credit = { attestorKind: "dev", devCreditMicros: 5_000 * MICROS } as const;
    apply(genesis(START_MS, venueConfig([BTC], { ...credit, backstopCapMicros: 0 })));
    this.index(PRICE);
  }

  signIn(): number {
    this.apply(openSession({ stampMs: START_MS, address: addressOf(this.engine.seq + 1) }));
    return this.engine.seq;
  }

  index(indexTicks: number): void {
    const { state } = this.engine;
    const slot = indexSlot(state, 0);
    this.apply({ kind: "UpdateIndex", stampMs: state.timeMs, market: 0, indexTicks, slot });
  }

  places(session: number, given: Partial<PlaceOrder>): VenueEvent[] {
    const { seq, state } = this.engine;
    return this.apply(plainOrder({ stampMs: state.timeMs, session, nonce: seq, ...given }));
  }

  /** A limit order at `PRICE` for that many lots. */
  limit(session: number, lots: number, given: Partial<PlaceOrder>): VenueEvent[] {
    const leverage = given.leverage ?? 1;
    const marginMicros = Math.ceil((lots * PRICE) / leverage);
    const terms = { type: LIMIT_ORDER, priceTicks: PRICE, leverage, marginMicros } as const;
    return this.places(session, { ...terms, ...given });
  }

  stops(session: number, count: number, given: Partial<PlaceOrder>): void {
    for (let i = 0; i < count; i++) {
      const events = this.places(session, { type: STOP_ORDER, ...given });
      expect(events.map(({ kind }) => kind)).not.toContain("CommandRefused");
    }
  }

  /** Applied to a restored engine, too. */
  tick(): VenueEvent[] {
    const { engine } = this;
    const tick = { kind: "Tick", slot: engine.state.lastTickMs / 200 + 1 } as const;
    const twin = Engine.restore(engine.snapshot());
    const events = this.apply(tick);
    expect(twin.apply(tick).decode()).toEqual(events);
    expect(Buffer.compare(twin.snapshot(), engine.snapshot())).toBe(0);
    return events;
  }
}

function count(events: readonly VenueEvent[], kind: EventKind): number {
  return events.filter((event) => event.kind === kind).length;
}

test("liquidations cancel orders for 8,000 units a tick and market; the others follow in later ticks, restored in between", () => {
  const scene = new Scene();
  const rich = scene.signIn();
  const longs = Array.from({ length: 11 }, () => scene.signIn());
  scene.limit(rich, longs.length * LOTS, { side: SHORT });
  for (const session of longs) {
    scene.limit(session, LOTS, { side: LONG, leverage: 50 });
    scene.limit(session, 1, { side: LONG, priceTicks: 450_000 });
    // The liquidation leaves them; they end with the position, and do not count.
    for (const trigger of [STOP_TRIGGER, TAKE_PROFIT_TRIGGER] as const) {
      const closing = { timeInForce: IMMEDIATE_OR_CANCEL, trigger, closePosition: true } as const;
      const priceTicks = trigger === STOP_TRIGGER ? 400_000 : 600_000;
      const extras = { ...PLAIN_EXTRAS, ...closing };
      scene.stops(session, 1, { side: SHORT, priceTicks, extras });
    }
    scene.stops(session, 493, { side: SHORT, priceTicks: 300_000 });
  }
  scene.index(FALLEN);

  const liquidated = (events: readonly VenueEvent[]): number[] =>
    events.flatMap((event) => (event.kind === "Liquidated" ? [event.account] : []));
  // 494 canceled orders are 1,976 units, each turn 8: four accounts leave a few of a tick's 8,000.
  // For these a fifth loses its orders; it is closed in the next tick.
  const ticks = [scene.tick(), scene.tick(), scene.tick()];
  expect(ticks.map(liquidated)).toEqual([
    [2, 3, 4, 5],
    [6, 7, 8, 9, 10],
    [11, 12],
  ]);
  expect(ticks.map((events) => count(events, "OrderEnded"))).toEqual([2_478, 2_480, 498]);
  const { state } = scene.engine;
  expect([state.orders.open, state.markets[0]!.positions.openRows()]).toEqual([0, []]);
  expect(liquidated(scene.tick())).toEqual([]);
  expect(audit(scene.engine)).toEqual([]);
});

test("deleveraging: orders that end with the positions count; the rest follows in the next tick, restored in between", () => {
  const scene = new Scene();
  const large = scene.signIn();
  const shorts = Array.from({ length: 18 }, () => scene.signIn());
  scene.limit(large, shorts.length * LOTS, { side: LONG, leverage: 50 });
  for (const session of shorts) {
    scene.limit(session, LOTS, { side: SHORT, leverage: 50 });
    scene.stops(session, 499, { side: LONG, priceTicks: 900_000, reduceOnly: true });
  }
  scene.index(FALLEN);

  const ticks = [scene.tick(), scene.tick(), scene.tick()];
  // An order that ends with its position is 2 units.
  expect(ticks.map((events) => count(events, "Traded"))).toEqual([8, 8, 2]);
  expect(ticks.map((events) => count(events, "OrderEnded"))).toEqual([8 * 499, 8 * 499, 2 * 499]);
  expect(scene.engine.state.markets[0]!.positions.openRows()).toEqual([]);
  expect(audit(scene.engine)).toEqual([]);
});

test("reduce-only orders that end with the makers' positions count; a fill-or-kill order that they stop is undone", () => {
  const scene = new Scene();
  const [rich, taker] = [scene.signIn(), scene.signIn()];
  const longs = Array.from({ length: 18 }, () => scene.signIn());
  scene.limit(rich, longs.length * LOTS, { side: SHORT });
  for (const session of longs) scene.limit(session, LOTS, { side: LONG });
  for (const session of longs) {
    scene.limit(session, LOTS, { side: SHORT, reduceOnly: true });
    scene.stops(session, 499, { side: SHORT, priceTicks: 300_000, reduceOnly: true });
  }

  const buys = (timeInForce: TimeInForceCode): VenueEvent[] => {
    const extras = { ...PLAIN_EXTRAS, sizeLots: longs.length * LOTS, timeInForce };
    return scene.limit(taker, 0, { side: LONG, extras });
  };
  const reason = (events: readonly VenueEvent[]): number | undefined =>
    events.flatMap((event) => (event.kind === "OrderAcknowledged" ? [event.reason] : []))[0];

  const before = describeDerived(scene.engine.state);
  const killed = buys(FILL_OR_KILL);
  expect([reason(killed), count(killed, "Traded")]).toEqual([END.fill_limit, 0]);
  expect(describeDerived(scene.engine.state)).toEqual(before);
  const restored = Engine.restore(scene.engine.snapshot());
  expect(describeDerived(restored.state)).toEqual(before);

  const first = buys(IMMEDIATE_OR_CANCEL);
  expect([reason(first), count(first, "Traded")]).toEqual([END.fill_limit, 8]);
  expect(count(first, "OrderEnded")).toBe(8 * 500);
  const second = buys(IMMEDIATE_OR_CANCEL);
  expect([reason(second), count(second, "Traded")]).toEqual([END.fill_limit, 8]);
  const third = buys(IMMEDIATE_OR_CANCEL);
  expect([reason(third), count(third, "Traded")]).toEqual([END.none, 2]);
  expect(scene.engine.state.orders.open).toBe(0);
  expect(audit(scene.engine)).toEqual([]);
});
