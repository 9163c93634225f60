/** A tick that meets its last account while another position is due. */
import { expect, test } from "vitest";
import { LIMIT_ORDER, LONG, SHORT, type Side } from "../../commands.js";
import { Engine } from "../../engine.js";
import { addressOf, genesis, openSession, PLAIN_EXTRAS, plainOrder } from "../commands.js";
import { comparedEngine } from "../compared.js";
import { BTC, MICROS, venueConfig } from "../scenarios/listing.js";
import { START_MS } from "../scenarios/venue.js";

/** Shorts from the higher price, of lower leverage, and from the lower one. */
const EARLY = 2_100;
const LATE = 200;

/** 2,300 winners, more than a tick can meet; `large` is due, and leaves work over. */
function unfinished(engineVersion: number) {
  const { engine, apply } = comparedEngine();
  let slot = START_MS / 200;
  const indexTo = (indexTicks: number): void => {
    const stampMs = engine.state.timeMs;
    apply({ kind: "UpdateIndex", stampMs, market: 0, indexTicks, slot: slot++ });
  };
  const signIn = (): number => {
    apply(openSession({ stampMs: START_MS, address: addressOf(engine.seq + 1) }));
    return engine.seq;
  };
  const order = (session: number, side: Side, sizeLots: number, leverage: number): void => {
    const order = plainOrder({
      stampMs: START_MS,
      session,
      nonce: engine.seq,
      side,
      type: LIMIT_ORDER,
      marginMicros: 0,
      leverage,
      priceTicks: engine.state.markets[0]!.mark,
      extras: { ...PLAIN_EXTRAS, sizeLots },
    });
    apply(order);
  };
  const config = venueConfig([BTC], {
    attestorKind: "dev",
    devCreditMicros: 5_000 * MICROS,
    backstopCapMicros: 0,
  });
  apply({ ...genesis(START_MS, config), engineVersion });
  const [calm, large, small] = [signIn(), signIn(), signIn()];
  const early = Array.from({ length: EARLY }, signIn);
  const late = Array.from({ length: LATE }, signIn);
  indexTo(500_000);
  order(calm, LONG, 10 * EARLY, 25);
  for (const session of early) order(session, SHORT, 10, 26);
  indexTo(494_500);
  order(large, LONG, 20_500, 50);
  for (const session of late) order(session, SHORT, 10, 50);
  order(calm, SHORT, 18_600, 25);
  order(small, LONG, 100, 50);

  const deleveraged = (): string[] =>
    apply({ kind: "Tick", slot: engine.state.lastTickMs / 200 + 1 }).flatMap((event) => {
      if (event.kind !== "Traded") return [];
      return [event.makerAccount > 3 + EARLY ? "late" : "early"];
    });
  return { engine, indexTo, deleveraged };
}

test("version 2, deleveraging that a tick leaves unfinished: the next tick ranks by its own mark", () => {
  const { engine, indexTo, deleveraged } = unfinished(2);
  // At 1 % below their price the late shorts have gained less for their leverage, at 1.5 % more.
  indexTo(489_400);
  expect(deleveraged()).toEqual(Array(2_000).fill("early"));
  indexTo(487_000);
  const twin = Engine.restore(engine.snapshot());
  expect(deleveraged()).toEqual(Array(60).fill("late"));
  twin.apply({ kind: "Tick", slot: twin.state.lastTickMs / 200 + 1 });
  expect(Buffer.compare(twin.snapshot(), engine.snapshot())).toBe(0);
});

test("version 3: as many as a tick can meet, early and late, and the rest in the next tick", () => {
  const { engine, indexTo, deleveraged } = unfinished(3);
  indexTo(489_400);
  const met = deleveraged();
  // Less two for each of two turns.
  expect(met.length).toBe(1_996);
  expect(new Set(met)).toEqual(new Set(["early", "late"]));
  indexTo(487_000);
  const twin = Engine.restore(engine.snapshot());
  expect(deleveraged().length).toBeGreaterThan(0);
  twin.apply({ kind: "Tick", slot: twin.state.lastTickMs / 200 + 1 });
  expect(Buffer.compare(twin.snapshot(), engine.snapshot())).toBe(0);
});
