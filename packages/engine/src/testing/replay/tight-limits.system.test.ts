/**
 * Short flows in which almost every tick leaves work over: a command has the units of three makers and a
 * tick those of six, a tick liquidates or triggers two, and begins no liquidation once an order was
 * canceled for another one. The backstop takes nothing, so liquidations deleverage. One
 * engine runs on, another is restored from a snapshot after every tick and some other commands: what a
 * command leaves outside of the snapshot must decide nothing.
 * PERPGATE_TIGHT_SEEDS=n sets the number of flows.
 */
import { Random } from "@perpgate/protocol/random";
import { expect, test } from "vitest";
import { audit } from "../../audit.js";
import {
  type Command,
  FILL_OR_KILL,
  GOOD_TILL_CANCELED,
  IMMEDIATE_OR_CANCEL,
  LIMIT_ORDER,
  LONG,
  type PlaceOrder,
  SHORT,
  type Side,
  STOP_ORDER,
  type TimeInForceCode,
} from "../../commands.js";
import { Engine } from "../../engine.js";
import { TRADE_ADL, type VenueEvent } from "../../events/event-table.js";
import { accountsDue } from "../../money/liquidate.js";
import { END } from "../../reasons.js";
import { NONE } from "../../state/orders.js";
import { RULE_SETS } from "../../versions.js";
import { addressOf, genesis, openSession, PLAIN_EXTRAS, plainOrder } from "../commands.js";
import { describeDerived } from "../derived.js";
import { indexSlot } from "../index-slot.js";
import { BTC, MICROS, venueConfig } from "../scenarios/listing.js";
import { START_MS } from "../scenarios/venue.js";
import { unitsOf } from "../work/limits.js";

const SEEDS = Number(process.env.PERPGATE_TIGHT_SEEDS ?? 3);
const ROUNDS = 40;
const ACCOUNTS = 12;

const MAKERS = 3;
/** Stops and canceled orders count as makers. */
const MAKERS_PER_TICK = 6;
const LIQUIDATIONS = 2;
const CANCELS = 1;
const TIGHT = RULE_SETS.map((rules) => ({
  ...rules,
  ...unitsOf(MAKERS_PER_TICK),
  unitsPerCommand: unitsOf(MAKERS).unitsPerCommand,
  endsPerMaker: 1,
  liquidationsAndStopsPerCommand: LIQUIDATIONS,
  stopsPerTickAndMarket: LIQUIDATIONS,
  liquidationCancelsPerCommand: CANCELS,
}));

const TIMES_IN_FORCE = {
  rests: GOOD_TILL_CANCELED,
  "fills or dies": FILL_OR_KILL,
  stop: IMMEDIATE_OR_CANCEL,
} satisfies Record<string, TimeInForceCode>;

class TightFlow {
  private readonly sessions: number[] = [];

  constructor(
    private readonly random: Random,
    private readonly engine: Engine,
    private readonly engineVersion: number,
  ) {}

  *commands(): Generator<Command> {
    const money = { attestorKind: "dev", devCreditMicros: 5_000 * MICROS } as const;
    const config = venueConfig([BTC], { ...money, backstopCapMicros: 0 });
    yield { ...genesis(START_MS, config), engineVersion: this.engineVersion };
    for (let i = 0; i < ACCOUNTS; i++) yield this.signIn();
    yield this.index(500_000);
    for (let round = 0; round < ROUNDS; round++) {
      const { random } = this;
      for (let trades = random.int(0, 3); trades > 0; trades--) yield* this.trade();
      for (let exits = random.int(0, 3); exits > 0; exits--) yield* this.exit();
      if (random.chance(0.3)) yield this.order(this.side(), random.int(-4_000, 4_000), 50, "stop");
      if (random.chance(0.2)) yield this.order(this.side(), random.int(-2_000, 2_000), 50);
      yield this.index(this.mark + random.int(-7_000, 7_000));
      yield { kind: "Tick", slot: this.engine.state.lastTickMs / 200 + 1 };
    }
  }

  private get mark(): number {
    return this.engine.state.markets[0]!.mark;
  }

  private side(): Side {
    return this.random.chance(0.5) ? LONG : SHORT;
  }

  private signIn(): Command {
    const number = this.engine.seq + 1;
    this.sessions.push(number);
    return openSession({ stampMs: START_MS, address: addressOf(number) });
  }

  private index(indexTicks: number): Command {
    const { state } = this.engine;
    const slot = indexSlot(state, 0);
    return { kind: "UpdateIndex", stampMs: state.timeMs, market: 0, indexTicks, slot };
  }

  /** Two accounts, mostly, take opposite sides near the mark. */
  private *trade(): Generator<Command> {
    const side = this.side();
    const offset = this.random.int(-200, 200);
    const sizeLots = 10 * this.random.int(1, 10);
    yield this.order(side, offset, sizeLots);
    const life = this.random.pick(["rests", "rests", "fills or dies"] as const);
    yield this.order(side === LONG ? SHORT : LONG, offset, sizeLots, life);
  }

  /** Somebody who holds a position has a stop that ends with it, too far away to be reached soon. */
  private *exit(): Generator<Command> {
    const { positions } = this.engine.state.markets[0]!;
    const account = this.random.int(1, ACCOUNTS);
    const row = positions.rowOf(account);
    const lots = row === NONE ? 0 : positions.lots(row);
    if (lots === 0) return;
    const side = lots > 0 ? SHORT : LONG;
    const session = this.sessions[account - 1]!;
    const stop = this.order(side, side * 20_000, Math.abs(lots), "stop");
    yield { ...stop, session, reduceOnly: true };
  }

  private order(
    side: Side,
    offset: number,
    sizeLots: number,
    life: keyof typeof TIMES_IN_FORCE = "rests",
  ): PlaceOrder {
    return plainOrder({
      stampMs: this.engine.state.timeMs,
      session: this.random.pick(this.sessions),
      nonce: this.engine.seq,
      side,
      type: life === "stop" ? STOP_ORDER : LIMIT_ORDER,
      marginMicros: 0,
      leverage: this.random.int(20, 50),
      priceTicks: this.mark + offset,
      extras: { ...PLAIN_EXTRAS, timeInForce: TIMES_IN_FORCE[life], sizeLots },
    });
  }
}

/** How many commands of the flows met a limit. */
class Reached {
  /** Ticks that deleveraged and met nobody more after it. */
  spent = 0;
  /** Commands that met fewer makers than they may, because orders ended with a position. */
  ended = 0;
  /** Ticks that left a position due, because orders were canceled for another. */
  canceled = 0;

  observe({ state }: Engine, command: Command, events: readonly VenueEvent[]): void {
    const { work, liquidatedOrders } = state.scratch;
    const trades = events.filter((event) => event.kind === "Traded");
    if (work.isSpent && trades.some(({ tradeKind }) => tradeKind === TRADE_ADL)) this.spent++;
    if (work.isSpent && isShortByEnded(trades.length, events)) this.ended++;
    if (command.kind !== "Tick" || work.isSpent || liquidatedOrders < CANCELS) return;
    const liquidated = new Set<number>();
    for (const event of events) if (event.kind === "Liquidated") liquidated.add(event.account);
    const waits = accountsDue(state.markets[0]!).length > 0;
    if (waits && liquidated.size < LIQUIDATIONS) this.canceled++;
  }
}

/** Whether fewer makers were met than a command may, and orders that ended with a position are the rest. */
function isShortByEnded(trades: number, events: readonly VenueEvent[]): boolean {
  const ends = events.filter((event) => event.kind === "OrderEnded");
  const withPosition = ends.filter(({ reason }) => reason === END.reduce_only).length;
  // Makers at most that were met and did not trade.
  const withoutTrade = ends.length - withPosition;
  const missing = MAKERS - trades - withoutTrade;
  return missing > 0 && withPosition >= missing;
}

function run(seed: number, version: number, reached: Reached): void {
  const live = Engine.knowing(TIGHT);
  let restored = Engine.knowing(TIGHT);
  const restarts = new Random(seed, "restarts");
  const flow = new TightFlow(new Random(seed, "tight limits"), live, version);
  for (const command of flow.commands()) {
    const where = `version ${version}, seed ${seed}, position ${live.seq + 1}, ${JSON.stringify(command)}`;
    const events = live.apply(command).decode();
    expect(restored.apply(command).decode(), where).toEqual(events);
    if (command.kind === "Tick" || restarts.chance(0.2)) {
      const bytes = live.snapshot();
      expect(Buffer.compare(restored.snapshot(), bytes), where).toBe(0);
      restored = Engine.restore(bytes, TIGHT);
      expect(describeDerived(restored.state), where).toEqual(describeDerived(live.state));
    }
    reached.observe(live, command, events);
    expect(
      events.some(({ kind }) => kind === "MarketHalted"),
      where,
    ).toBe(false);
  }
  expect(audit(live), `seed ${seed}`).toEqual([]);
}

test(`${SEEDS} flows that leave work over, restored again and again: the same events and state`, {
  timeout: 60_000 + SEEDS * 10_000,
}, () => {
  const reached = new Reached();
  for (const { version } of RULE_SETS) {
    for (let seed = 1; seed <= SEEDS; seed++) run(seed, version, reached);
  }
  expect(reached.spent).toBeGreaterThan(SEEDS);
  expect(reached.ended).toBeGreaterThan(SEEDS);
  expect(reached.canceled).toBeGreaterThan(SEEDS);
});
