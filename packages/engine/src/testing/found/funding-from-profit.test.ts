/**
 * Positions in profit that nobody touches for hours: their funding comes to more than their margin, and
 * the rest raises their cost. The engine against the naive model, event for event.
 */
import { Random } from "@perpgate/protocol/random";
import { expect, test } from "vitest";
import { audit } from "../../audit.js";
import { type Command, LIMIT_ORDER, LONG, SHORT, type Side } from "../../commands.js";
import { HOUR_MS, TICK_MS } from "../../config.js";
import { Engine } from "../../engine.js";
import { addressOf, genesis, openSession, PLAIN_EXTRAS, plainOrder } from "../commands.js";
import { Coverage } from "../flow/coverage.js";
import { hasIndexSlot, indexSlot } from "../index-slot.js";
import { ReferenceVenue } from "../reference/venue.js";
import { BTC, MICROS, venueConfig } from "../scenarios/listing.js";
import { START_MS } from "../scenarios/venue.js";
import { SoleWriter } from "../sole-writer.js";

const SEEDS = 3;
const HOLDERS = 3;
const START_TICKS = 500_000;
/** Ends with a price 14 % away from the start. */
const RISES = [1.07, 1.14];

/** Some hold a side with much leverage, the price goes their way, and the book's middle goes further. */
class HeldFlow {
  private readonly sessions: number[] = [];
  private readonly side: Side;
  private readonly other: Side;
  private index = START_TICKS;

  constructor(
    private readonly random: Random,
    private readonly writer: SoleWriter,
    private readonly engine: () => Engine,
  ) {
    this.side = random.pick([LONG, SHORT] as const);
    this.other = this.side === LONG ? SHORT : LONG;
  }

  *commands(): Generator<Command> {
    const { random, side, other } = this;
    const money = { attestorKind: "dev", devCreditMicros: 200_000 * MICROS } as const;
    yield genesis(START_MS, venueConfig([BTC], money));
    yield this.writer.joins(START_MS);
    for (let i = 0; i < HOLDERS + 2; i++) yield this.signIn();
    yield* this.report();
    for (let i = 0; i < HOLDERS; i++) {
      const lots = random.int(1_000, 40_000);
      yield this.order(HOLDERS, other, this.index, lots, 2);
      yield this.order(i, side, this.index, lots, random.int(40, 50));
    }
    for (const rise of RISES) {
      this.index = Math.round(START_TICKS * (side === LONG ? rise : 2 - rise));
      yield* this.report();
      yield this.tick();
    }
    const [bid, ask] = side === LONG ? [1.04, 1.045] : [0.955, 0.96];
    yield this.order(HOLDERS, LONG, Math.round(this.index * bid), 60_000, 5);
    yield this.order(HOLDERS + 1, SHORT, Math.round(this.index * ask), 60_000, 5);
    for (let hour = random.int(4, 7); hour > 0; hour--) yield* this.hour();
    for (let i = 0; i < HOLDERS; i++) {
      const price = Math.round(this.index * (side === LONG ? bid : ask));
      yield this.order(i, other, price, random.int(1, 1_000), 5);
    }
    yield* this.hour();
  }

  private get now(): number {
    return this.engine().state.timeMs;
  }

  private signIn(): Command {
    const number = this.engine().seq + 1;
    this.sessions.push(number);
    return openSession({ stampMs: this.now, address: addressOf(number), tokenHash: `${number}` });
  }

  private order(
    who: number,
    side: Side,
    priceTicks: number,
    sizeLots: number,
    leverage: number,
  ): Command {
    return plainOrder({
      stampMs: this.now,
      session: this.sessions[who]!,
      nonce: this.engine().seq,
      side,
      type: LIMIT_ORDER,
      marginMicros: 0,
      leverage,
      priceTicks,
      extras: { ...PLAIN_EXTRAS, sizeLots },
    });
  }

  private *report(): Generator<Command> {
    if (!hasIndexSlot(this.engine().state, 0)) yield this.tick();
    const slot = indexSlot(this.engine().state, 0);
    yield { kind: "UpdateIndex", stampMs: this.now, market: 0, indexTicks: this.index, slot };
  }

  private tick(): Command {
    return { kind: "Tick", slot: this.engine().state.lastTickMs / TICK_MS + 1 };
  }

  /** Samples of the premium, and then the end of the hour. */
  private *hour(): Generator<Command> {
    const end = (Math.floor(this.now / HOUR_MS) + 1) * HOUR_MS;
    yield* this.reports();
    yield { kind: "AskTime", stampMs: end - TICK_MS };
    yield* this.reports();
  }

  private *reports(): Generator<Command> {
    for (let i = 0; i < 3; i++) {
      yield* this.report();
      yield this.tick();
    }
  }
}

test("funding beyond the margin of a position in profit, restored between: the model agrees", () => {
  const coverage = new Coverage();
  for (let seed = 1; seed <= SEEDS; seed++) {
    const reference = new ReferenceVenue();
    const writer = new SoleWriter();
    let engine = new Engine();
    const flow = new HeldFlow(new Random(seed, "funding from profit"), writer, () => engine);
    for (const command of flow.commands()) {
      const where = `seed ${seed}, position ${engine.seq + 1}, ${JSON.stringify(command)}`;
      writer.sends(engine, command);
      writer.repeats(reference, command);
      const expected = reference.apply(command);
      expect(engine.apply(command).decode(), where).toEqual(expected);
      coverage.observe(command, expected, reference.state);
      if (engine.seq % 10 === 0) engine = Engine.restore(engine.snapshot());
    }
    expect(audit(engine), `seed ${seed}`).toEqual([]);
  }
  expect(coverage.count("rule funding from profit")).toBeGreaterThan(0);
});
