/**
 * Orders that are larger than the cap of their session and pass as exits, while the positions that they
 * would close come and go: the engine against the naive model, event for event.
 */
import { Random } from "@perpgate/protocol/random";
import { expect, test } from "vitest";
import { audit } from "../../audit.js";
import {
  type Command,
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  type OrderTypeCode,
  SHORT,
  STOP_ORDER,
} from "../../commands.js";
import { Engine } from "../../engine.js";
import { NONE } from "../../state/orders.js";
import { addressOf, genesis, openSession, PLAIN_EXTRAS, plainOrder } from "../commands.js";
import { Coverage } from "../flow/coverage.js";
import { indexSlot } from "../index-slot.js";
import { ReferenceVenue } from "../reference/venue.js";
import { BTC, MICROS, venueConfig } from "../scenarios/listing.js";
import { START_MS } from "../scenarios/venue.js";

const SEEDS = 4;
const ROUNDS = 150;
const ACCOUNTS = 4;

class CappedFlow {
  /** Two of each account: one without caps, one with. */
  private readonly sessions: number[] = [];

  constructor(
    private readonly random: Random,
    private readonly engine: () => Engine,
  ) {}

  *commands(): Generator<Command> {
    const { random } = this;
    const money = { attestorKind: "dev", devCreditMicros: 50_000 * MICROS } as const;
    yield genesis(START_MS, venueConfig([BTC], money));
    for (let i = 0; i < ACCOUNTS; i++) {
      yield this.signIn(i, 0);
      yield this.signIn(i, random.int(100, 2_000) * MICROS);
    }
    yield this.index(500_000);
    for (let round = 0; round < ROUNDS; round++) {
      for (let orders = random.int(1, 4); orders > 0; orders--) yield this.order();
      if (random.chance(0.3)) yield* this.amendment();
      yield this.index(this.market.mark + random.int(-1_000, 1_000));
      yield { kind: "Tick", slot: this.state.lastTickMs / 200 + 1 };
    }
  }

  private get state() {
    return this.engine().state;
  }

  private get market() {
    return this.state.markets[0]!;
  }

  private signIn(account: number, maxOrderNotionalMicros: number): Command {
    const number = this.engine().seq + 1;
    this.sessions.push(number);
    const named = { tokenHash: `token ${number}`, siweNonce: `sign-in ${number}` };
    const address = addressOf(account);
    return openSession({ stampMs: START_MS, address, maxOrderNotionalMicros, ...named });
  }

  private index(indexTicks: number): Command {
    const slot = indexSlot(this.state, 0);
    return { kind: "UpdateIndex", stampMs: this.state.timeMs, market: 0, indexTicks, slot };
  }

  /** Mostly as large as the position, and mostly against it. */
  private order(): Command {
    const { random, market, state } = this;
    const account = random.int(0, ACCOUNTS - 1);
    const row = market.positions.rowOf(account + 1);
    const held = row === NONE ? 0 : market.positions.lots(row);
    const closes = held !== 0 && random.chance(0.7);
    const side = closes ? (held > 0 ? SHORT : LONG) : random.pick([LONG, SHORT] as const);
    const lots = closes ? Math.abs(held) - random.int(0, 1) : 10 * random.int(1, 1_000);
    const type: OrderTypeCode = random.pick([LIMIT_ORDER, LIMIT_ORDER, STOP_ORDER, MARKET_ORDER]);
    const away = random.int(1, 1_000) * (type === STOP_ORDER ? side : random.pick([1, -1]));
    const priceTicks = type === MARKET_ORDER ? 0 : market.mark + away;
    const leverage = random.int(1, 5);
    const isSized = random.chance(0.2);
    const opposite = market.opposite(side);
    const best = opposite.count > 0 ? opposite.bestTicks() : market.mark;
    const notional = lots * (type === MARKET_ORDER ? best : priceTicks);
    const timeInForce = type === LIMIT_ORDER ? 0 : 1;
    return plainOrder({
      stampMs: state.timeMs,
      session: this.sessions[2 * account + random.int(0, 1)]!,
      nonce: this.engine().seq,
      side,
      type,
      leverage,
      marginMicros: isSized ? 0 : Math.max(1, Math.ceil(notional / leverage)),
      priceTicks,
      reduceOnly: closes && random.chance(0.2),
      ...(isSized || random.chance(0.2)
        ? { extras: { ...PLAIN_EXTRAS, timeInForce, sizeLots: isSized ? Math.max(1, lots) : 0 } }
        : {}),
    });
  }

  /** Another price, and sometimes another size, for an open order, by either session of its owner. */
  private *amendment(): Generator<Command> {
    const { random, state, market } = this;
    const open = [...state.orders.openRows()];
    if (open.length === 0) return;
    const order = random.pick(open);
    const account = state.orders.account(order) - 1;
    const lots = state.orders.lots(order);
    yield {
      kind: "AmendOrder",
      stampMs: state.timeMs,
      session: this.sessions[2 * account + random.int(0, 1)]!,
      key: "key",
      nonce: this.engine().seq,
      market: 0,
      orderId: state.orders.id(order),
      clientOrderId: "",
      priceTicks: market.mark + random.int(-1_000, 1_000),
      sizeLots: random.chance(0.5) ? 0 : Math.max(1, lots + random.int(-lots, 100)),
      limitTicks: 0,
      expiresAtMs: -1,
      validUntilMs: 0,
    };
  }
}

test("exits that are larger than their cap: the engine agrees with the naive model", () => {
  const coverage = new Coverage();
  for (let seed = 1; seed <= SEEDS; seed++) {
    const reference = new ReferenceVenue();
    let engine = new Engine();
    const flow = new CappedFlow(new Random(seed, "exits under a cap"), () => engine);
    for (const command of flow.commands()) {
      const where = `seed ${seed}, position ${engine.seq + 1}, ${JSON.stringify(command)}`;
      const expected = reference.apply(command);
      expect(engine.apply(command).decode(), where).toEqual(expected);
      coverage.observe(command, expected, reference.state);
      if (engine.seq % 50 === 0) engine = Engine.restore(engine.snapshot());
    }
    expect(audit(engine), `seed ${seed}`).toEqual([]);
  }
  expect(coverage.count("rule exit meets its cap: OrderEnded")).toBeGreaterThan(0);
  expect(coverage.count("rule exit meets its cap: OrderAcknowledged")).toBeGreaterThan(0);
});
